# A process that receives forwarded messages, for tests: it writes each message to a ledger before it confirms
# it, and detects batches that it has already seen.
#
#   elixir --name sink@127.0.0.1 --cookie C sink.exs LEDGER
#
# Reads commands from standard input, one per line, and answers each with a line:
#
#   stop           receives nothing until `go`
#   at N stop      after N messages: writes the batch, prints `stopped`, confirms the batch after `go`
#   at N cut       after N messages: writes the batch, closes the connection to the gateway's node
#                  instead of confirming the batch, and prints `cut`
#   held           prints the number of messages in its mailbox
#   peak           prints the largest number of messages that it and its mailbox have held
#   count          prints the number of messages received
#   credit N       grants N messages
#   kill           kills the gateway
defmodule Sink do
  use GenServer

  def start_link(path), do: GenServer.start_link(__MODULE__, path, name: :sink)

  @impl true
  def init(path) do
    {:ok, file} = :file.open(path, [:append, :raw])
    {:ok, %{file: file, gateway: nil, last: 0, previous: 0, count: 0, peak: 0, plan: []}}
  end

  @impl true
  def handle_info({:purlin_ack, gateway, _, _, _, _} = message, %{gateway: other} = state)
      when gateway != other do
    # A restarted gateway starts numbering anew.
    handle_info(message, %{state | gateway: gateway, last: 0, previous: 0})
  end

  # The batches in between were lost with a connection and will be resent.
  def handle_info({:purlin_ack, _, _, follows, _, _}, %{previous: previous} = state)
      when follows not in [0, previous],
      do: {:noreply, state}

  def handle_info({:purlin_ack, gateway, batch, _, source, messages}, state) do
    if batch > state.last do
      lines = for {id, payload} <- messages, do: "#{source.connection} #{id} #{payload}\n"
      :ok = :file.write(state.file, lines)
      :ok = :file.sync(state.file)
    end

    # WHY before confirming: the gateway replaces confirmed messages by new ones, which would be counted twice.
    state = seen(state, length(messages))
    state = confirm(gateway, batch, state)
    {:noreply, %{state | last: max(batch, state.last), previous: batch}}
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

  def handle_call({:at, count, step}, _, state),
    do: {:reply, :ok, %{state | plan: state.plan ++ [{count, step}]}}

  def handle_call({:credit, credit}, _, state) do
    send(state.gateway, {:purlin_credit, credit})
    {:reply, :ok, state}
  end

  def handle_call(:kill, _, state) do
    true = Process.exit(state.gateway, :kill)
    {:reply, :ok, state}
  end

  def held do
    {:messages, waiting} = Process.info(Process.whereis(:sink), :messages)
    for({:purlin_ack, _, _, _, _, messages} <- waiting, do: length(messages)) |> Enum.sum()
  end

  defp confirm(gateway, _, %{plan: [{due, :cut} | plan], count: count} = state) when count >= due do
    true = Node.disconnect(node(gateway))
    IO.puts("cut")
    %{state | plan: plan}
  end

  defp confirm(gateway, batch, %{plan: [{due, :stop} | plan], count: count} = state) when count >= due do
    IO.puts("stopped")

    receive do
      :go -> send(gateway, {:purlin_confirm, batch})
    end

    %{state | plan: plan}
  end

  defp confirm(gateway, batch, state) do
    send(gateway, {:purlin_confirm, batch})
    state
  end

  defp seen(state, messages),
    do: %{state | count: state.count + messages, peak: max(state.peak, held() + messages)}
end

defmodule Commands do
  def obey do
    case IO.gets("") do
      :eof -> System.halt(0)
      line -> line |> String.trim() |> String.split() |> one()
    end

    obey()
  end

  defp one(["stop"]), do: IO.puts(call(:stop))
  defp one(["go"]), do: IO.puts(inspect(send(:sink, :go)))
  defp one(["at", count, "stop"]), do: IO.puts(call({:at, String.to_integer(count), :stop}))
  defp one(["at", count, "cut"]), do: IO.puts(call({:at, String.to_integer(count), :cut}))
  defp one(["held"]), do: IO.puts(Sink.held())
  defp one(["kill"]), do: IO.puts(call(:kill))
  defp one(["peak"]), do: IO.puts(call(:peak))
  defp one(["count"]), do: IO.puts(call(:count))
  defp one(["credit", credit]), do: IO.puts(call({:credit, String.to_integer(credit)}))

  defp call(request), do: GenServer.call(:sink, request, :infinity)
end

[path] = System.argv()
{:ok, _} = Sink.start_link(path)
IO.puts("ready")
Commands.obey()
