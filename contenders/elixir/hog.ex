# Round trips while other processes compute without pause: hog.
#
# In an open loop, timers of the runtime start the trips at whole milliseconds of its clock; the
# latency of a trip counts from that millisecond. Latencies are stored in an atomics array outside
# the process heaps, so that storing them causes no garbage collection.
defmodule Contender.Hog do
  import Bitwise
  import Contender.Clock

  # Time in ms for trips in progress to complete after the last start, and time in ms from setting
  # the first timer to its expiry.
  @completion_timeout 2000
  @lead 5

  # Number of steps between two checks of the stop flag: a few microseconds.
  @look_every 1000

  # Capacity for the latencies of a closed loop; the loop ends when it is reached.
  @room 1_000_000

  def run(loop, hogs, ms) do
    times = :atomics.new(if(loop == :open, do: ms, else: @room), [])
    late = :atomics.new(ms, [])
    stop = :atomics.new(1, [])
    root = self()
    {partner, _} = spawn_monitor(&answer/0)
    {first, _} = spawn_monitor(fn -> first(loop, partner, root, times, late, ms) end)
    for _ <- 1..hogs//1, do: spawn_monitor(fn -> compute(stop, 1) end)
    begin = System.monotonic_time(:millisecond) + @lead
    starts = if loop == :open, do: ms, else: 1

    for due <- begin..(begin + starts - 1),
        do: Process.send_after(first, {:start, ms_to_ns(due)}, due, abs: true)

    receive do
      :all_back -> :ok
    after
      @lead + ms + @completion_timeout -> :ok
    end

    elapsed = now() - ms_to_ns(begin)
    :atomics.put(stop, 1, 1)
    send(first, :finish)
    {started, back} = receive do: ({:counted, started, back} -> {started, back})
    send(partner, :finish)
    for _ <- 1..(hogs + 2), do: receive(do: ({:DOWN, _, :process, _, :normal} -> :ok))

    receive do
      :all_back -> :ok
    after
      0 -> :ok
    end

    starved = if back == started, do: 0, else: 1
    lateness = percentiles(values(late, if(loop == :open and back == ms, do: ms, else: 0)))

    told = %{
      elapsed_ns: elapsed,
      ops: back,
      sent: started,
      received: back,
      starved: starved,
      late_p50_ns: lateness.p50_ns,
      late_p99_ns: lateness.p99_ns
    }

    Map.merge(told, percentiles(values(times, back)))
  end

  defp values(times, count), do: for(i <- 1..count//1, do: :atomics.get(times, i))

  defp ms_to_ns(ms), do: ms * 1_000_000

  # An open loop is complete when ms trips have returned. Its timers start exactly ms trips, so the
  # starts are not counted.
  defp first(:open, partner, root, times, late, ms),
    do: open(partner, root, times, late, ms, 0, 0)

  defp first(:closed, partner, root, times, _, ms) do
    receive do
      {:start, begin} ->
        send(partner, {:trip, self(), now()})
        closed(partner, root, times, begin + ms_to_ns(ms), 1, 0)

      :finish ->
        send(root, {:counted, 1, 0})
    end
  end

  defp open(_, root, _, _, ms, _, ms) do
    send(root, :all_back)
    receive do: (:finish -> send(root, {:counted, ms, ms}))
  end

  defp open(partner, root, times, late, ms, started, back) do
    receive do
      {:start, due} ->
        :atomics.put(late, started + 1, now() - due)
        send(partner, {:trip, self(), due})
        open(partner, root, times, late, ms, started + 1, back)

      {:back, due} ->
        :atomics.put(times, back + 1, now() - due)
        open(partner, root, times, late, ms, started, back + 1)

      :finish ->
        send(root, {:counted, ms, back})
    end
  end

  defp closed(partner, root, times, until, started, back) do
    receive do
      {:back, start} ->
        now = now()
        :atomics.put(times, started, now - start)

        if now < until and started < @room do
          send(partner, {:trip, self(), now})
          closed(partner, root, times, until, started + 1, back + 1)
        else
          send(root, :all_back)
          receive do: (:finish -> send(root, {:counted, started, back + 1}))
        end

      :finish ->
        send(root, {:counted, started, back})
    end
  end

  # Sends each message back.
  defp answer do
    receive do
      {:trip, from, start} ->
        send(from, {:back, start})
        answer()

      :finish ->
        :ok
    end
  end

  defp compute(stop, x) do
    if :atomics.get(stop, 1) == 0, do: compute(stop, steps(@look_every, x))
  end

  defp steps(0, x), do: x
  defp steps(left, x), do: steps(left - 1, band(x * 20077 + 12345, 0x7FFFFFFF))
end
