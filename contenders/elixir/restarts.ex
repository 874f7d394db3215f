# Supervisor that restarts its only child after each of many crashes: restart.
#
# On each restart the supervisor traverses the list of all restarts within max_seconds, and it gives
# up beyond max_restarts. max_restarts here is the number of crashes, so it never gives up.
defmodule Contender.Restarts do
  import Contender.Clock
  alias Contender.CrashingServer

  @reporters [:supervisor, :gen_server, :proc_lib]

  # Logging is disabled, because logging a crash takes longer than the restart.
  def restart(n, reps) do
    :ok = :logger.set_module_level(@reporters, :none)
    {elapsed, received, alive} = supervisors(reps, n, 0, 0, 0)
    %{elapsed_ns: elapsed, ops: n * reps, sent: n * reps, received: received, alive: alive}
  after
    :logger.unset_module_level(@reporters)
  end

  defp supervisors(0, _, elapsed, received, alive), do: {elapsed, received, alive}

  defp supervisors(reps, n, elapsed, received, alive) do
    {:ok, supervisor} =
      Supervisor.start_link([{CrashingServer, self()}],
        strategy: :one_for_one,
        max_restarts: n,
        max_seconds: 1
      )

    first = receive do: ({:initialised, pid} -> pid)
    {crashing, restarted} = time(fn -> crash(n, first, 0) end)
    active = Supervisor.count_children(supervisor).active
    :ok = Supervisor.stop(supervisor)
    supervisors(reps - 1, n, elapsed + crashing, received + restarted, alive + active)
  end

  defp crash(0, _, restarted), do: restarted

  defp crash(n, child, restarted) do
    :ok = GenServer.cast(child, :crash)

    receive do
      {:initialised, ^child} -> crash(n - 1, child, restarted)
      {:initialised, next} -> crash(n - 1, next, restarted + 1)
    end
  end
end

# Child of the supervisor: reports its start to the root and crashes on request.
defmodule Contender.CrashingServer do
  use GenServer

  def start_link(root), do: GenServer.start_link(__MODULE__, root)

  @impl true
  def init(root) do
    send(root, {:initialised, self()})
    {:ok, root}
  end

  @impl true
  def handle_cast(:crash, root), do: {:stop, :crashed, root}
end
