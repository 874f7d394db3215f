# Timers: timers and timer-expiry.
defmodule Contender.Timers do
  alias Contender.Savina
  import Contender.Clock

  # Time in ms of the timers that are cancelled.
  @soon 5000

  @range 0x80000000

  def run(window, n, seed) do
    order = order(window, seed)
    timers = List.to_tuple(for i <- 1..window, do: set(i))
    {elapsed, {cancelled, rest}} = time(fn -> pass(order, order, timers, [], n, 0) end)
    alive = Enum.count(rest, &Process.cancel_timer/1)
    %{elapsed_ns: elapsed, ops: n, sent: n, received: cancelled, waiting: alive}
  end

  defp set(i), do: Process.send_after(self(), {:timeout, i}, @soon)

  # Cancels the timers of the last pass in this order, and sets one after each.
  defp pass(left, _, timers, next, 0, cancelled),
    do: {cancelled, Enum.map(left, &elem(timers, &1)) ++ next}

  defp pass([], order, _, next, n, cancelled),
    do: pass(order, order, next |> Enum.reverse() |> List.to_tuple(), [], n, cancelled)

  defp pass([i | left], order, timers, next, n, cancelled) do
    in_time = if Process.cancel_timer(elem(timers, i)), do: 1, else: 0
    pass(left, order, timers, [set(n) | next], n - 1, cancelled + in_time)
  end

  defp order(window, seed) do
    sorted = draws(window, seed) |> Enum.with_index() |> Enum.sort()
    Enum.map(sorted, fn {_, i} -> i end)
  end

  # The first draws of a seed.
  defp draws(count, seed) do
    rem(seed, @range) |> Savina.next() |> Stream.iterate(&Savina.next/1) |> Enum.take(count)
  end

  # A timer is set to a whole millisecond of the runtime's clock, so a due time is rounded up.
  def expiry(%{n: n, after_ms: after_ms, spread_ms: spread_ms, seed: seed}) do
    drawn = draws(n, seed)
    first = now() + after_ms * 1_000_000

    for x <- drawn do
      due = first + div(x * (spread_ms + 1), @range) * 1_000_000
      Process.send_after(self(), {:expired, due}, whole_ms(due), abs: true)
    end

    overdue = if now() > first, do: 1, else: 0
    late = expired(n, spread_ms > 0, [])
    elapsed = now() - first
    sample = %{elapsed_ns: elapsed, ops: n, sent: n, received: n, overdue: overdue}
    Map.merge(sample, delays(late))
  end

  defp whole_ms(ns), do: -Integer.floor_div(-ns, 1_000_000)

  defp expired(0, _, late), do: late

  defp expired(left, timed, late) do
    receive do
      {:expired, due} when timed -> expired(left - 1, timed, [now() - due | late])
      {:expired, _} -> expired(left - 1, timed, late)
    end
  end
end
