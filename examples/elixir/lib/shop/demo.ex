defmodule Shop.Demo do
  @moduledoc "Calls, crashes and restarts of both nodes; each step prints a line."
  alias Shop.{Ledger, Native}

  def run do
    Logger.configure(level: :none)
    talk()
    crash_of_a_process_in_rust()
    crash_of_a_process_in_elixir()
    crash_of_the_node()
    say("done")
  end

  defp talk do
    say("Elixir calls Rust: 1 + 2 + 3 = #{call({:sum, [1, 2, 3]})}")
    ledger = Process.whereis(Ledger)
    say("Rust calls Elixir: the ledger has #{call({:book, [20, 22], ledger})}")
    say("Elixir sees the node: #{Native.node_name() in Node.list(:hidden)}")
  end

  # A monitor and a link across nodes; the Rust supervisor restarts the process.
  defp crash_of_a_process_in_rust do
    pid = call(:pid)
    monitor = Process.monitor(pid)
    Process.flag(:trap_exit, true)
    Process.link(pid)
    GenServer.cast(Native.abacus(), :crash)

    receive do
      {:DOWN, ^monitor, :process, ^pid, {:panic, why, _}} -> say("the monitor says: panic, #{why}")
    end

    receive do
      {:EXIT, ^pid, {:panic, why, _}} -> say("the link says: panic, #{why}")
    end

    Process.flag(:trap_exit, false)
    once_it_is_back()
    say("another process has the name: #{call(:pid) != pid}, and adds up: #{call({:sum, [4, 5]})}")
  end

  # The same in the other direction; the Elixir supervisor restarts the process.
  defp crash_of_a_process_in_elixir do
    ledger = Process.whereis(Ledger)
    :ok = call({:watch, ledger})
    once(fn -> call(:pid) in info(ledger, :monitored_by) end)
    Process.exit(ledger, :kill)

    receive do
      {:gone, why} -> say("Rust's monitor says: #{why}")
    end

    once(fn -> is_pid(Process.whereis(Ledger)) and Process.whereis(Ledger) != ledger end)
    say("another ledger is booked into: #{call({:book, [7], Process.whereis(Ledger)})}")

    pid = call(:pid)
    monitor = Process.monitor(pid)
    partner = spawn(fn -> receive do: (:crash -> exit(:heartbroken)) end)
    :ok = call({:link, partner})
    # The reply may arrive before the link: order is guaranteed only between two processes.
    once(fn -> pid in info(partner, :links) end)
    send(partner, :crash)

    receive do
      {:DOWN, ^monitor, :process, ^pid, why} -> say("who was linked in Rust has ended, too: #{why}")
    end

    once_it_is_back()
  end

  # SIGKILL, which simulates a power failure.
  defp crash_of_the_node do
    pid = call(:pid)
    monitor = Process.monitor(pid)
    Node.monitor(Native.node_name(), true)
    {_, 0} = System.cmd("kill", ["-KILL", to_string(Native.os_pid())])

    receive do
      {:nodedown, node} -> say("#{node} is down")
    end

    receive do
      {:DOWN, ^monitor, :process, ^pid, why} -> say("the monitor says: #{why}")
    end

    once_it_is_back()
    say("the supervisor has started it again: 6 + 7 = #{call({:sum, [6, 7]})}")
    monitor = Process.monitor(pid)

    receive do
      {:DOWN, ^monitor, :process, ^pid, why} -> say("it is a new node, and has no such old process: #{why}")
    end
  end

  defp call(request), do: GenServer.call(Native.abacus(), request)
  defp say(line), do: IO.puts(line)
  defp info(pid, what), do: Process.info(pid, what) |> elem(1)

  defp once_it_is_back do
    once(fn ->
      try do
        call({:sum, []}) == 0
      catch
        :exit, _ -> false
      end
    end)
  end

  defp once(condition) do
    unless condition.() do
      Process.sleep(10)
      once(condition)
    end
  end
end
