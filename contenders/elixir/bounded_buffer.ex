# Producers and consumers with a manager of a bounded buffer between them: bounded-buffer.
defmodule Contender.BoundedBuffer do
  import Bitwise
  import Contender.Clock
  import Contender.Exchange, only: [work: 2]
  alias Contender.BufferManager

  @modulus_mask 0x7FFFFFFF

  def run(%{producers: producers, consumers: consumers, capacity: capacity, cost: cost, n: n}) do
    root = self()

    {elapsed, {manager, received, sink}} =
      time(fn ->
        {:ok, manager} = BufferManager.start_link(capacity - producers, producers * n)
        for _ <- 1..producers, do: spawn_link(fn -> produce(n, 1, cost, manager, root, 0) end)
        for _ <- 1..consumers, do: spawn_link(fn -> consume(cost, manager, root, 0, 0) end)
        {received, sink} = consumed(consumers, 0, 0)
        {manager, received, sink}
      end)

    sent = produced(producers, 0)
    :ok = GenServer.stop(manager)
    %{elapsed_ns: elapsed, ops: producers * n, sent: sent, received: received, sink: sink}
  end

  defp produce(0, _, _, _, root, produced), do: send(root, {:produced, produced})

  defp produce(n, x, cost, manager, root, produced) do
    item = work(cost, x)
    :ok = BufferManager.put(manager, item)
    produce(n - 1, item, cost, manager, root, produced + 1)
  end

  defp consume(cost, manager, root, count, sum) do
    case BufferManager.get(manager) do
      {:item, x} ->
        consume(cost, manager, root, count + 1, band(sum + work(cost, x), @modulus_mask))

      :end ->
        send(root, {:consumed, count, sum})
    end
  end

  defp consumed(0, count, sum), do: {count, sum}

  defp consumed(left, count, sum) do
    receive do: ({:consumed, c, s} -> consumed(left - 1, count + c, band(sum + s, @modulus_mask)))
  end

  defp produced(0, count), do: count
  defp produced(left, count), do: receive(do: ({:produced, c} -> produced(left - 1, count + c)))
end

# Manager of the buffer, which answers late: a producer when there is room, and a consumer when there
# is an item.
defmodule Contender.BufferManager do
  use GenServer

  # room is the number of items from which producers wait; due is the number of items that have not
  # been handed out.
  defstruct items: :queue.new(), size: 0, room: 0, due: 0, producers: :queue.new(), consumers: :queue.new()

  def start_link(room, due), do: GenServer.start_link(__MODULE__, {room, due})
  def put(manager, item), do: GenServer.call(manager, {:put, item}, :infinity)
  def get(manager), do: GenServer.call(manager, :get, :infinity)

  @impl true
  def init({room, due}), do: {:ok, %__MODULE__{room: room, due: due}}

  @impl true
  def handle_call({:put, item}, producer, buffer) do
    case store(item, buffer) do
      %{size: size, room: room} = stored when size < room ->
        {:reply, :ok, stored}

      stored ->
        {:noreply, %{stored | producers: :queue.in(producer, stored.producers)}}
    end
  end

  def handle_call(:get, _consumer, %{due: 0} = buffer), do: {:reply, :end, buffer}

  def handle_call(:get, consumer, %{size: 0} = buffer),
    do: {:noreply, %{buffer | consumers: :queue.in(consumer, buffer.consumers)}}

  def handle_call(:get, _consumer, %{items: items, size: size, due: due} = buffer) do
    {{:value, item}, rest} = :queue.out(items)
    {:reply, {:item, item}, release(%{buffer | items: rest, size: size - 1, due: due - 1})}
  end

  # The item goes to the consumer that waits longest, if any.
  defp store(item, buffer) do
    case :queue.out(buffer.consumers) do
      {:empty, _} ->
        %{buffer | items: :queue.in(item, buffer.items), size: buffer.size + 1}

      {{:value, consumer}, rest} ->
        GenServer.reply(consumer, {:item, item})
        end_if_done(%{buffer | due: buffer.due - 1, consumers: rest})
    end
  end

  defp end_if_done(%{due: 0, consumers: consumers} = buffer) do
    for consumer <- :queue.to_list(consumers), do: GenServer.reply(consumer, :end)
    %{buffer | consumers: :queue.new()}
  end

  defp end_if_done(buffer), do: buffer

  defp release(buffer) do
    case :queue.out(buffer.producers) do
      {:empty, _} ->
        buffer

      {{:value, producer}, rest} ->
        GenServer.reply(producer, :ok)
        %{buffer | producers: rest}
    end
  end
end
