defmodule Shop.Native do
  @moduledoc """
  Owns the operating system's process in which the purlin node runs, as a port.

  It has started when the node can be called. If the program ends, so does this process, and its
  supervisor starts both again. If this process or the whole runtime ends, the port is closed, and
  the program, whose standard input that is, ends by itself.
  """
  use GenServer

  def start_link(_), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "The name of the node."
  def node_name do
    [_, host] = String.split(to_string(Node.self()), "@")
    :"native@#{host}"
  end

  @doc "The process that adds up, by its name."
  def abacus, do: {:abacus, node_name()}

  @doc "The operating system's id of the program."
  def os_pid, do: GenServer.call(__MODULE__, :os_pid)

  @impl true
  def init(_) do
    Process.flag(:trap_exit, true)
    program = System.fetch_env!("SHOP_NATIVE")
    # The environment, unlike the arguments, is for our own eyes only.
    env = [{~c"SHOP_COOKIE", Atom.to_charlist(Node.get_cookie())}]
    options = [:binary, :exit_status, line: 1000, args: [to_string(node_name())], env: env]
    port = Port.open({:spawn_executable, program}, options)

    receive do
      {^port, {:data, {:eol, "ready"}}} -> {:ok, port}
      {^port, {:exit_status, status}} -> {:stop, {:native_ended, status}}
    after
      10_000 -> {:stop, :native_is_not_ready}
    end
  end

  @impl true
  def handle_call(:os_pid, _from, port) do
    {:os_pid, id} = Port.info(port, :os_pid)
    {:reply, id, port}
  end

  @impl true
  def handle_info({port, {:exit_status, status}}, port),
    do: {:stop, {:shutdown, {:native_ended, status}}, port}

  def handle_info({port, {:data, {_, line}}}, port) do
    IO.puts("native: #{line}")
    {:noreply, port}
  end

  def handle_info({:EXIT, _, _}, port), do: {:noreply, port}
end
