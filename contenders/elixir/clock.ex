# The clock of every experiment, and the times of single messages and trips beside it.
defmodule Contender.Clock do
  def now, do: System.monotonic_time(:nanosecond)

  # What the function gives, after the nanoseconds that it took.
  def time(fun) do
    start = now()
    result = fun.()
    {now() - start, result}
  end

  # Of the messages those are timed whose count has these bits clear, and of the round trips: one
  # in 1024 and one in 256.
  defguard carries_time(count) when Bitwise.band(count, 1023) == 0
  defguard is_timed(count) when Bitwise.band(count, 255) == 0

  # The median, the 99th percentile and the longest; nothing if nothing was timed.
  def delays([]), do: %{}
  def delays(times), do: percentiles(times)

  def percentiles([]), do: %{p50_ns: 0, p99_ns: 0, max_ns: 0}

  def percentiles(times) do
    sorted = times |> Enum.sort() |> List.to_tuple()
    at = fn percent -> elem(sorted, max(1, div(tuple_size(sorted) * percent + 99, 100)) - 1) end
    %{p50_ns: at.(50), p99_ns: at.(99), max_ns: at.(100)}
  end
end
