# Servers with helper processes per connection: throttle, head-rest and async-ack. After the last
# read, the helpers send the pending acks and exit before the connection process does.

# Passes each message to a GenServer by a call; another process acknowledges every 5 ms.
defmodule Contender.Acks.Collected do
  alias Contender.Acks.{Collector, Wire}

  @tick 5

  # Reads exactly the header, then exactly the payload.
  def throttle(socket, counter), do: collect(socket, counter, &exactly(socket, &1))

  # Reads the available data and splits it into messages.
  def head_rest(socket, counter), do: collect(socket, counter, &available(socket, &1, ""))

  defp collect(socket, counter, read) do
    {:ok, collector} = GenServer.start_link(Collector, [])
    ticker = spawn_link(fn -> tick(socket, counter, collector) end)
    monitor = Process.monitor(ticker)
    read.(collector)
    send(ticker, :last)
    receive do: ({:DOWN, ^monitor, :process, ^ticker, _} -> :ok)
    GenServer.stop(collector)
  end

  defp exactly(socket, collector) do
    with {:ok, <<id::little-64, size::little-32>>} <- Wire.exactly(socket, 12),
         {:ok, payload} <- Wire.exactly(socket, size) do
      :ok = GenServer.call(collector, {:message, id, payload})
      exactly(socket, collector)
    end
  end

  defp available(socket, collector, block) do
    case block do
      <<id::little-64, size::little-32, payload::binary-size(size), rest::binary>> ->
        :ok = GenServer.call(collector, {:message, id, payload})
        available(socket, collector, rest)

      rest ->
        with true <- Wire.fits?(rest),
             {:ok, data} <- Wire.more(socket, rest),
             do: available(socket, collector, data)
    end
  end

  defp tick(socket, counter, collector) do
    receive do
      :last -> acknowledge(socket, counter, collector)
    after
      @tick ->
        acknowledge(socket, counter, collector)
        tick(socket, counter, collector)
    end
  end

  defp acknowledge(socket, counter, collector) do
    {newest, count} = GenServer.call(collector, :take)
    Wire.acknowledge(socket, counter, newest, count)
  end
end

# Accepts messages and tracks the pending ack: the newest id and the number of messages.
defmodule Contender.Acks.Collector do
  use GenServer

  @impl true
  def init([]), do: {:ok, {0, 0}}

  @impl true
  def handle_call({:message, id, _payload}, _from, {_, count}), do: {:reply, :ok, {id, count + 1}}
  def handle_call(:take, _from, owed), do: {:reply, owed, {0, 0}}
end

# Passes blocks as they were read to a responder process, which parses and acknowledges them.
defmodule Contender.Acks.AsyncAck do
  alias Contender.Acks.Wire

  # The responder acknowledges after this number of blocks, or after this idle time in ms.
  @every 22
  @quiet 5
  # Number of blocks that may be queued for the responder; above it, the reader sleeps in steps of
  # 1 ms.
  @room 100

  def serve(socket, counter) do
    waiting = :atomics.new(1, [])
    start = %{socket: socket, counter: counter, waiting: waiting}
    responder = spawn_link(fn -> respond(start, "", 0, 0, 0) end)
    monitor = Process.monitor(responder)
    read(socket, responder, waiting)
    send(responder, :last)
    receive do: ({:DOWN, ^monitor, :process, ^responder, _} -> :ok)
  end

  defp read(socket, responder, waiting) do
    with {:ok, block} <- Wire.more(socket, "") do
      :atomics.add(waiting, 1, 1)
      send(responder, {:block, block})
      slow_down(waiting)
      read(socket, responder, waiting)
    end
  end

  defp slow_down(waiting) do
    if :atomics.get(waiting, 1) > @room do
      Process.sleep(1)
      slow_down(waiting)
    end
  end

  defp respond(start, rest, newest, count, blocks) do
    quiet = if count > 0, do: @quiet, else: :infinity

    receive do
      {:block, block} ->
        :atomics.sub(start.waiting, 1, 1)
        {rest, last, more} = Wire.skim(Wire.join(rest, block))
        newest = if more > 0, do: last, else: newest
        Wire.fits?(rest) || :gen_tcp.shutdown(start.socket, :read_write)

        if blocks + 1 == @every do
          acknowledge(start, newest, count + more)
          respond(start, rest, 0, 0, 0)
        else
          respond(start, rest, newest, count + more, blocks + 1)
        end

      :last ->
        acknowledge(start, newest, count)
    after
      quiet ->
        acknowledge(start, newest, count)
        respond(start, rest, 0, 0, 0)
    end
  end

  defp acknowledge(start, newest, count),
    do: Wire.acknowledge(start.socket, start.counter, newest, count)
end
