# Process creation: spawn-chain, serial-spawn, fork-join and skynet.
defmodule Contender.Processes do
  import Contender.Clock

  @children 10

  def spawn_chain(n, reps) do
    {elapsed, {sent, received}} = time(fn -> chains(reps, n, 0, 0) end)
    %{elapsed_ns: elapsed, ops: n * reps, sent: sent, received: received}
  end

  defp chains(0, _, sent, received), do: {sent, received}

  defp chains(reps, n, sent, received) do
    chain(n, 0, self())
    receive do: ({:ran, ran} -> chains(reps - 1, n, sent + n, received + ran))
  end

  # Spawns a process that spawns the next one and exits; the last one reports how many ran.
  defp chain(left, ran, root), do: spawn(fn -> next(left, ran + 1, root) end)

  defp next(1, ran, root), do: send(root, {:ran, ran})
  defp next(left, ran, root), do: chain(left - 1, ran, root)

  def serial_spawn(m, total) do
    lengths = shares(total, m)

    {elapsed, received} =
      time(fn ->
        Enum.each(lengths, &chain(&1, 0, self()))
        gather(m, 0)
      end)

    %{elapsed_ns: elapsed, ops: total, sent: Enum.sum(lengths), received: received}
  end

  defp gather(0, sum), do: sum
  defp gather(m, sum), do: receive(do: ({:ran, ran} -> gather(m - 1, sum + ran)))

  # WHY off_heap: with the queue on the heap each garbage collection of the root goes through all
  # reports that wait there.
  def fork_join(n) do
    Process.flag(:message_queue_data, :off_heap)
    root = self()

    {elapsed, {sent, received}} =
      time(fn ->
        sent = fork(n, root, 0)
        {sent, join(n, 0)}
      end)

    %{elapsed_ns: elapsed, ops: n, sent: sent, received: received}
  end

  defp fork(0, _, sent), do: sent

  defp fork(n, root, sent) do
    spawn(fn -> send(root, n) end)
    fork(n - 1, root, sent + 1)
  end

  defp join(0, received), do: received
  defp join(n, received), do: receive(do: (_ -> join(n - 1, received + 1)))

  def skynet(leaves) do
    root = self()

    {elapsed, {sum, received}} =
      time(fn ->
        spawn(fn -> node(0, leaves, root) end)
        receive do: ({:sum, sum, received} -> {sum, received})
      end)

    %{elapsed_ns: elapsed, ops: leaves, sent: leaves, received: received, sum: sum}
  end

  # Tree node over size leaves, starting with leaf number first.
  defp node(first, 1, parent), do: send(parent, {:sum, first, 1})

  defp node(first, size, parent) do
    each = div(size, @children)
    me = self()
    for child <- 0..(@children - 1), do: spawn(fn -> node(first + child * each, each, me) end)
    add_up(@children, 0, 0, parent)
  end

  defp add_up(0, sum, leaves, parent), do: send(parent, {:sum, sum, leaves})

  defp add_up(left, sum, leaves, parent) do
    receive do: ({:sum, s, l} -> add_up(left - 1, sum + s, leaves + l, parent))
  end

  # Divides the total into shares; the first share also gets the remainder.
  def shares(total, parts) do
    each = div(total, parts)
    [each + rem(total, parts) | List.duplicate(each, parts - 1)]
  end
end
