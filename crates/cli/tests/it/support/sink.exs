# A process that takes forwarded messages, for tests: it writes each into a ledger before it confirms
# it, and knows batches that it has seen.
#
#   elixir --name sink@127.0.0.1 --cookie C sink.exs LEDGER
#
# Reads commands, one a line: `stop` has it take nothing until `go`; `peak` prints the most messages
# that it and its mailbox have held at a time, `count` how many came; `credit N` grants as many, and `cut`
# ends the connection to the gateway's node.
defmodule Sink do
  use GenServer

  def start_link(path), do: GenServer.start_link(__MODULE__, path, name: :sink)

  @impl true
  def init(path) do
    {:ok, file} = :file.open(path, [:append, :raw])
    {:ok, %{file: file, gateway: nil, last: 0, previous: 0, count: 0, peak: 0}}
  end

  @impl true
  def handle_info({:purlin_ack, gateway, _, _, _, _} = message, %{gateway: other} = state)
      when gateway != other do
    # A gateway that has been started again begins anew.
    handle_info(message, %{state | gateway: gateway, last: 0, previous: 0})
  end

  # What was between was lost with a connection, and all of it comes again.
  def handle_info({:purlin_ack, _, _, follows, _, _}, %{previous: previous} = state)
      when follows not in [0, previous],
      do: {:noreply, state}

  def handle_info({:purlin_ack, gateway, batch, _, source, messages}, state) do
    if batch > state.last do
      lines = for {id, payload} <- messages, do: "#{source.connection} #{id} #{payload}\n"
      :ok = :file.write(state.file, lines)
      :ok = :file.sync(state.file)
    end

    send(gateway, {:purlin_confirm, batch})
    {:noreply, seen(%{state | last: max(batch, state.last), previous: batch}, length(messages))}
  end

  @impl true
  def handle_call(:stop, from, state) do
    GenServer.reply(from, :stopped)

    receive do
      :go -> {:noreply, state}
    end
  end

  def handle_call(:peak, _, state), do: {:reply, state.peak, state}
  def handle_call(:count, _, state), do: {:reply, state.count, state}

  def handle_call(:cut, _, state), do: {:reply, Node.disconnect(node(state.gateway)), state}

  def handle_call({:credit, credit}, _, state) do
    send(state.gateway, {:purlin_credit, credit})
    {:reply, :ok, state}
  end

  defp seen(state, messages) do
    {:messages, waiting} = Process.info(self(), :messages)
    held = for({:purlin_ack, _, _, _, _, more} <- waiting, do: length(more)) |> Enum.sum()
    %{state | count: state.count + messages, peak: max(state.peak, held + messages)}
  end
end

defmodule Commands do
  def obey do
    case IO.gets("") do
      :eof -> System.halt(0)
      line -> line |> String.trim() |> String.split() |> one()
    end

    obey()
  end

  defp one(["stop"]), do: IO.puts(GenServer.call(:sink, :stop, :infinity))
  defp one(["go"]), do: IO.puts(inspect(send(:sink, :go)))
  defp one(["cut"]), do: IO.puts(GenServer.call(:sink, :cut, :infinity))
  defp one(["peak"]), do: IO.puts(GenServer.call(:sink, :peak, :infinity))
  defp one(["count"]), do: IO.puts(GenServer.call(:sink, :count, :infinity))
  defp one(["credit", credit]), do: IO.puts(GenServer.call(:sink, {:credit, String.to_integer(credit)}, :infinity))
end

[path] = System.argv()
{:ok, _} = Sink.start_link(path)
IO.puts("ready")
Commands.obey()
