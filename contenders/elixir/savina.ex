# Draws and repetitions of the Savina programs: the parts that involve no processes.
#
# The draws are those of contenders/protocol/src/savina.
defmodule Contender.Savina do
  import Bitwise

  @modulus_mask 0x7FFFFFFF

  # Start of the stream of draws with this number.
  def stream(number), do: band(number * 1_073_741_789 + 1, @modulus_mask)

  # Next position in a stream.
  def next(x), do: band(x * 20077 + 12345, @modulus_mask)

  # Draw from 0 to k - 1 at this position.
  def below(k, x), do: bsr(k * x, 31)

  # Calls the function reps times and adds up the figures that it returns.
  def repeat(reps, run) do
    Enum.reduce(2..reps//1, run.(), fn _, total ->
      Map.merge(total, run.(), fn _, one, other -> one + other end)
    end)
  end
end
