# The clock of every experiment.
defmodule Contender.Clock do
  def now, do: System.monotonic_time(:nanosecond)

  # What the function gives, after the nanoseconds that it took.
  def time(fun) do
    start = now()
    result = fun.()
    {now() - start, result}
  end
end
