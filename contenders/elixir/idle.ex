# Idle processes: idle-memory.
defmodule Contender.Idle do
  import Contender.Clock

  # Maximum number of processes spawned before the root receives their ready messages.
  @at_once 1000

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
