# Reads and writes of a map that a GenServer owns: dictionary.
defmodule Contender.Dictionary do
  use GenServer
  import Contender.Clock
  import Contender.Savina

  @keys 65536

  def run(workers, writes, n) do
    root = self()
    {:ok, dictionary} = GenServer.start_link(__MODULE__, [])

    {elapsed, {sent, received}} =
      time(fn ->
        for i <- 0..(workers - 1) do
          spawn_link(fn -> worker(n, stream(i), writes, dictionary, root, 0, 0) end)
        end

        collect(workers, 0, 0)
      end)

    {served, written} = GenServer.call(dictionary, :count)
    :ok = GenServer.stop(dictionary)

    %{
      elapsed_ns: elapsed,
      ops: workers * n,
      sent: sent + served,
      received: received + served,
      writes: written
    }
  end

  defp worker(0, _, _, _, root, sent, received), do: send(root, {:worked, sent, received})

  defp worker(n, x, writes, dictionary, root, sent, received) do
    for_kind = next(x)
    for_key = next(for_kind)
    key = below(@keys, for_key)

    if below(100, for_kind) < writes do
      for_value = next(for_key)
      reply = GenServer.call(dictionary, {:write, key, key + @keys * below(1000, for_value)})
      worker(n - 1, for_value, writes, dictionary, root, sent + 1, received + fits(reply, key))
    else
      reply = GenServer.call(dictionary, {:read, key})
      worker(n - 1, for_key, writes, dictionary, root, sent + 1, received + fits(reply, key))
    end
  end

  defp fits(value, key) when rem(value, @keys) == key, do: 1
  defp fits(_, _), do: 0

  defp collect(0, sent, received), do: {sent, received}

  defp collect(left, sent, received),
    do: receive(do: ({:worked, s, r} -> collect(left - 1, sent + s, received + r)))

  # The state: the map, the requests served, and the writes among them.
  @impl true
  def init([]), do: {:ok, {Map.new(0..(@keys - 1), &{&1, &1}), 0, 0}}

  @impl true
  def handle_call({:read, key}, _from, {map, served, written}),
    do: {:reply, Map.fetch!(map, key), {map, served + 1, written}}

  def handle_call({:write, key, value}, _from, {map, served, written}),
    do: {:reply, value, {Map.put(map, key, value), served + 1, written + 1}}

  def handle_call(:count, _from, {_, served, written} = state),
    do: {:reply, {served, written}, state}
end
