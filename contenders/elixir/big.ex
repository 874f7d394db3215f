# Processes that ping each other at random: big.
defmodule Contender.Big do
  import Contender.Clock
  import Contender.Savina, only: [stream: 1, next: 1, below: 2]

  def run(processes, n) do
    root = self()

    {elapsed, pids} =
      time(fn ->
        pids = for i <- 0..(processes - 1), do: spawn_link(fn -> member(i, n, root) end)
        members = List.to_tuple(pids)
        Enum.each(pids, &send(&1, {:members, members}))
        Enum.each(pids, fn _ -> receive do: (:finished -> :ok) end)
        pids
      end)

    Enum.each(pids, &send(&1, :report))
    {sent, received} = collect(processes, 0, 0)
    %{elapsed_ns: elapsed, ops: processes * n, sent: sent, received: received}
  end

  defp member(i, n, root) do
    members = receive do: ({:members, members} -> members)
    go_on(n, stream(i), members, root, 0, 0)
  end

  # Pings another member, or reports that none is left to ping.
  defp go_on(0, x, members, root, sent, received) do
    send(root, :finished)
    answer(0, x, members, root, sent, received)
  end

  defp go_on(left, x, members, root, sent, received) do
    next = next(x)
    send(elem(members, below(tuple_size(members), next)), {:ping, self()})
    answer(left, next, members, root, sent + 1, received)
  end

  defp answer(left, x, members, root, sent, received) do
    receive do
      {:ping, from} ->
        send(from, :pong)
        answer(left, x, members, root, sent + 1, received + 1)

      :pong ->
        go_on(left - 1, x, members, root, sent, received + 1)

      :report ->
        send(root, {:report, sent, received})
    end
  end

  defp collect(0, sent, received), do: {sent, received}

  defp collect(left, sent, received),
    do: receive(do: ({:report, s, r} -> collect(left - 1, sent + s, received + r)))
end
