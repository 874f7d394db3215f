# Process exits observed through monitors and links: monitor-churn, link-churn and exit-cascade.
defmodule Contender.Exits do
  import Contender.Clock

  def monitor_churn(n), do: churn(n, &monitored/2)

  def link_churn(n) do
    Process.flag(:trap_exit, true)
    churn(n, &linked/2)
  end

  # Times n rounds. rounds returns the number of exits with the expected notification.
  defp churn(n, rounds) do
    {elapsed, received} = time(fn -> rounds.(n, 0) end)
    %{elapsed_ns: elapsed, ops: n, sent: n, received: received}
  end

  defp monitored(0, received), do: received

  defp monitored(n, received) do
    {pid, monitor} = spawn_monitor(fn -> :ok end)

    receive do
      {:DOWN, ^monitor, :process, ^pid, :normal} -> monitored(n - 1, received + 1)
      {:DOWN, _, :process, _, _} -> monitored(n - 1, received)
    end
  end

  defp linked(0, received), do: received

  defp linked(n, received) do
    pid = spawn_link(fn -> :ok end)

    receive do
      {:EXIT, ^pid, :normal} -> linked(n - 1, received + 1)
      {:EXIT, _, _} -> linked(n - 1, received)
    end
  end

  def exit_cascade(n, reps) do
    {elapsed, stood, gone} = chains(reps, n, 0, 0, 0)
    %{elapsed_ns: elapsed, ops: n * reps, sent: stood, received: gone}
  end

  defp chains(0, _, elapsed, stood, gone), do: {elapsed, stood, gone}

  defp chains(reps, n, elapsed, stood, gone) do
    root = self()
    first = spawn(fn -> stand(n, root) end)
    last = receive do: ({:last, furthest} -> furthest)
    others = for _ <- 2..n//1, do: receive(do: ({:stands, one} -> one))
    monitor = Process.monitor(last)
    # The monitor signal may be delayed, and signals to different processes are not ordered: the
    # exit signal could reach the last process through the chain first. A reply to a message that is
    # sent after the monitor signal proves that the monitor is active.
    send(last, {:monitored, root})
    receive do: (:monitored -> :ok)

    {cascade, reason} =
      time(fn ->
        Process.exit(first, :shutdown)
        receive do: ({:DOWN, ^monitor, :process, ^last, reason} -> reason)
      end)

    ended = if reason == :shutdown, do: Enum.count([last | others], &(not Process.alive?(&1))), else: 0

    chains(reps - 1, n, elapsed + cascade, stood + length(others) + 1, gone + ended)
  end

  # Member of the chain. left is the number of members from this one to the last.
  defp stand(1, root) do
    send(root, {:last, self()})
    receive do: ({:monitored, ^root} -> send(root, :monitored))
    receive do: (:never -> :ok)
  end

  defp stand(left, root) do
    spawn_link(fn -> stand(left - 1, root) end)
    send(root, {:stands, self()})
    receive do: (:never -> :ok)
  end
end
