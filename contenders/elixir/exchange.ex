# Two processes that compute and exchange messages: exchange, message-size and bandwidth.
defmodule Contender.Exchange do
  import Bitwise
  import Contender.Clock

  # s is the length of the lists, or nil for short messages.
  def run(%{n: n, reps: reps} = params) do
    repeat(reps, params, %{elapsed_ns: 0, sent: 0, received: 0, sink: 0, elements: 0})
    |> Map.put(:ops, n * reps)
  end

  defp repeat(0, _, total), do: total

  defp repeat(reps, params, total) do
    root = self()
    sides = [one, other] = for _ <- 1..2, do: spawn_link(fn -> side(root, params) end)
    Enum.each(sides, fn side -> receive do: ({:ready, ^side} -> :ok) end)

    {elapsed, :ok} =
      time(fn ->
        send(one, {:start, other})
        send(other, {:start, one})
        Enum.each(sides, fn side -> receive do: ({:finished, ^side} -> :ok) end)
      end)

    figures = [%{elapsed_ns: elapsed} | Enum.map(sides, &report/1)]
    add = fn part, sum -> Map.merge(sum, part, fn _, before, more -> before + more end) end
    repeat(reps - 1, params, Enum.reduce(figures, total, add))
  end

  defp report(side) do
    send(side, :report)
    receive do: ({:report, ^side, figures} -> figures)
  end

  # Body of one of the two processes. The list is built once; the runtime copies it on each send.
  defp side(root, %{n: n, s: s, pieces: pieces, work: work}) do
    message = s && Enum.map(0..(s - 1)//1, &band(&1, 255))
    send(root, {:ready, self()})
    partner = receive do: ({:start, pid} -> pid)

    {x, sent, seen, last} =
      pieces(
        pieces,
        {div(n, pieces), rem(n, pieces), pieces},
        0,
        {work, message, partner},
        1,
        0,
        0,
        nil
      )

    {received, newest} = drain(n - seen, seen, last)
    send(root, {:finished, self()})
    receive do: (:report -> :ok)

    send(
      root,
      {:report, self(), %{sent: sent, received: received, sink: x, elements: received * size(newest)}}
    )
  end

  defp size(list) when is_list(list), do: length(list)
  defp size(_), do: 0

  # Sends are spread evenly: after piece i of p, floor(i * n / p) messages have been sent. each is
  # div(n, p) and rest is rem(n, p). rest accumulates in carried; whenever carried reaches p, one
  # more message is sent.
  defp pieces(0, _, _, _, x, sent, seen, last), do: {x, sent, seen, last}

  defp pieces(
         left,
         {each, rest, pieces} = schedule,
         carried,
         {work, message, partner} = what,
         x,
         sent,
         seen,
         last
       ) do
    worked = work(work, x)

    {due, over} =
      if carried + rest >= pieces,
        do: {each + 1, carried + rest - pieces},
        else: {each, carried + rest}

    send_all(due, message, partner)

    receive do
      newest ->
        pieces(left - 1, schedule, over, what, worked, sent + due, seen + 1, newest)
    after
      0 -> pieces(left - 1, schedule, over, what, worked, sent + due, seen, last)
    end
  end

  defp send_all(0, _, _), do: :ok

  defp send_all(due, nil, partner) do
    send(partner, due)
    send_all(due - 1, nil, partner)
  end

  defp send_all(due, message, partner) do
    send(partner, message)
    send_all(due - 1, message, partner)
  end

  defp drain(0, received, last), do: {received, last}

  defp drain(left, received, _) do
    receive do: (newest -> drain(left - 1, received + 1, newest))
  end

  def work(0, x), do: x
  def work(steps, x), do: work(steps - 1, band(x * 20077 + 12345, 0x7FFFFFFF))
end
