# Clock of the experiments, and latency of single messages and round trips.
defmodule Contender.Clock do
  def now, do: System.monotonic_time(:nanosecond)

  # Calls the function. Returns the elapsed nanoseconds and its result.
  def time(fun) do
    start = now()
    result = fun.()
    {now() - start, result}
  end

  # A message or round trip whose count has these bits clear is timed: one message in 1024, and one
  # round trip in 256.
  defguard carries_time(count) when Bitwise.band(count, 1023) == 0
  defguard is_timed(count) when Bitwise.band(count, 255) == 0

  # Returns the median, the 90th and 99th percentiles and the maximum; an empty map if nothing was timed.
  def delays([]), do: %{}
  def delays(times), do: percentiles(times)

  def percentiles([]), do: %{p50_ns: 0, p90_ns: 0, p99_ns: 0, max_ns: 0}

  def percentiles(times) do
    sorted = times |> Enum.sort() |> List.to_tuple()
    at = fn percent -> elem(sorted, max(1, div(tuple_size(sorted) * percent + 99, 100)) - 1) end
    %{p50_ns: at.(50), p90_ns: at.(90), p99_ns: at.(99), max_ns: at.(100)}
  end
end
