defmodule Shop.Native do
  @moduledoc """
  Owns the operating system process of the purlin node, as a port.

  Its start is complete when the node can be called. If the program exits, so does this process, and
  its supervisor restarts both. If this process or the whole runtime ends, the port is closed; that
  closes the program's standard input, and the program exits.
  """
  use GenServer

  def start_link(_), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "The name of the node."
  def node_name do
    [_, host] = String.split(to_string(Node.self()), "@")
    :"native@#{host}"
  end

  @doc "The name of the process that adds numbers."
  def abacus, do: {:abacus, node_name()}

  @doc "The operating system's process id of the program."
  def os_pid, do: GenServer.call(__MODULE__, :os_pid)

  @impl true
  def init(_) do
    Process.flag(:trap_exit, true)
    program = System.fetch_env!("SHOP_NATIVE")
    # Other users can read a program's arguments but not its environment.
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
