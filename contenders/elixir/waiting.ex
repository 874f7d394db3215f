# Timers and idle processes: timers and idle-memory.
defmodule Contender.Waiting do
  import Contender.Clock

  # Time in ms of the timers that are cancelled while the clock runs, and of the others, which do
  # not expire during the run.
  @soon 5000
  @late 3_600_000

  # Maximum number of processes spawned before the root receives their ready messages.
  @at_once 1000

  def timers(waiting, n) do
    others = for i <- 1..waiting//1, do: Process.send_after(self(), {:timeout, i}, @late)
    {elapsed, cancelled} = time(fn -> pairs(n, 0) end)
    alive = Enum.count(others, &Process.cancel_timer/1)
    %{elapsed_ns: elapsed, ops: n, sent: n, received: cancelled, waiting: alive}
  end

  defp pairs(0, cancelled), do: cancelled

  defp pairs(n, cancelled) do
    timer = Process.send_after(self(), {:timeout, n}, @soon)

    case Process.cancel_timer(timer) do
      left when is_integer(left) -> pairs(n - 1, cancelled + 1)
      false -> pairs(n - 1, cancelled)
    end
  end

  # The processes outlive the root: none of them receives a message.
  def idle_memory(n) do
    {elapsed, received} = time(fn -> idle(n, 0) end)
    %{elapsed_ns: elapsed, ops: n, sent: n, received: received}
  end

  defp idle(0, received), do: received

  defp idle(left, received) do
    root = self()
    share = min(left, @at_once)
    Enum.each(1..share, fn _ -> spawn(fn -> wait(root) end) end)
    Enum.each(1..share, fn _ -> receive do: (:ready -> :ok) end)
    idle(left - share, received + share)
  end

  # Reports to the root and waits.
  defp wait(root) do
    send(root, :ready)
    receive do: (:stop -> :ok)
  end
end
