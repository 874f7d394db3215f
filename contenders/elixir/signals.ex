# Messages and exit signals from many senders to one receiver: signals.
#
# The draws, the interval between checks and the limit of signals in flight are those of
# contenders/protocol/src/signals.rs.
defmodule Contender.Signals do
  import Bitwise
  import Contender.Clock

  # Number of signals between two checks of the clock and of the signals in flight.
  @look_every 64

  # Number of outcomes of a draw; one of them asks for off_heap and one for on_heap.
  @outcomes 200_000

  # Indices of the counters that all processes of a run share: signals sent and received. The
  # difference is the number of signals in flight.
  @sent 1
  @received 2

  # Index of the flag that is 1 once the limit of signals in flight is reached: all senders then
  # end.
  @full 3

  def run(%{senders: senders, ms: ms} = asked) do
    root = self()
    counters = :atomics.new(3, [])

    receiver =
      :erlang.spawn_opt(
        fn ->
          Process.flag(:trap_exit, true)
          send(root, :ready)
          take(senders, root, counters, {0, 0, 0}, nil)
        end,
        message_queue_data: asked.variant
      )

    pids =
      for number <- 0..(senders - 1) do
        spawn_link(fn -> sender(number, asked, counters, receiver, root) end)
      end

    # No exit signal may arrive before the receiver traps exits.
    for _ <- [receiver | pids], do: receive(do: (:ready -> :ok))
    :erlang.garbage_collect()
    Process.sleep(asked.rest_ms)
    due = now() + ms * 1_000_000

    for pid <- pids do
      send(pid, {:start, due})
      Process.send_after(pid, :stop, ms)
    end

    accounts = for _ <- pids, do: receive(do: ({:sent, account} -> account))
    told = now()

    {{messages, exits, switches}, last_received, received} =
      receive do: ({:received, counts, last, at} -> {counts, last, at})

    sum = fn name -> accounts |> Enum.map(& &1[name]) |> Enum.sum() end
    begun = accounts |> Enum.map(& &1.begun) |> Enum.min()

    last =
      case asked.mode do
        :send -> accounts |> Enum.map(& &1.last) |> Enum.max()
        :receive -> last_received
      end

    %{
      elapsed_ns: last - begun,
      ops: sum.(:sent),
      sent: sum.(:sent),
      received: messages + exits + switches,
      messages: messages,
      exits: exits,
      switches: switches,
      late: sum.(:late),
      cut: sum.(:cut),
      drain_ns: max(0, received - told)
    }
  end

  defp sender(number, asked, counters, receiver, root) do
    list = Enum.to_list(1..asked.s//1)
    switches = 2 * asked.switch
    exits = switches + div((@outcomes - switches) * asked.exit_percent, 100)

    signal = fn
      0 when switches > 0 -> send(receiver, :off_heap)
      1 when switches > 0 -> send(receiver, :on_heap)
      draw when draw < exits -> Process.exit(receiver, list)
      _ -> send(receiver, list)
    end

    send(root, :ready)
    due = receive do: ({:start, due} -> due)
    begun = now()
    seed = band(asked.seed, 0x7FFFFFFF)
    first = band(seed + number * 1_073_741_789 + 1, 0x7FFFFFFF)
    # The time of the last signal is that of the last clock reading: after it, the process may have
    # waited long before it saw that no further signal was due.
    {sent, {in_time, looked}, cut} = send_all(first, signal, 0, {counters, asked.room, due}, {nil, nil})

    late = if in_time, do: sent - in_time, else: 0
    last = looked || now()
    send(root, {:sent, %{begun: begun, last: last, sent: sent, late: late, cut: cut}})
    send(receiver, :last)
  end

  # Checks for the stop message before each signal.
  defp send_all(x, signal, sent, limits, seen) do
    receive do
      :stop -> {sent, seen, 0}
    after
      0 ->
        next = band(x * 20_077 + 12_345, 0x7FFFFFFF)
        signal.(bsr(next * @outcomes, 31))

        if rem(sent + 1, @look_every) == 0,
          do: look(next, signal, sent + 1, limits, seen),
          else: send_all(next, signal, sent + 1, limits, seen)
    end
  end

  defp look(x, signal, sent, {counters, room, due} = limits, {in_time, _}) do
    time = now()
    seen = {if(in_time == nil and time > due, do: sent, else: in_time), time}
    under_way = :atomics.add_get(counters, @sent, @look_every) - :atomics.get(counters, @received)

    if under_way >= room, do: :atomics.put(counters, @full, 1)

    if :atomics.get(counters, @full) == 0,
      do: send_all(x, signal, sent, limits, seen),
      else: {sent, seen, 1}
  end

  # Counts all signals until every sender has sent :last.
  defp take(0, root, _, counts, looked), do: send(root, {:received, counts, looked || now(), now()})

  defp take(sending, root, counters, {messages, exits, switches} = counts, looked) do
    receive do
      list when is_list(list) ->
        counted(sending, root, counters, {messages + 1, exits, switches}, looked)

      {:EXIT, _, _} ->
        counted(sending, root, counters, {messages, exits + 1, switches}, looked)

      :last ->
        take(sending - 1, root, counters, counts, looked)

      queue ->
        Process.flag(:message_queue_data, queue)
        counted(sending, root, counters, {messages, exits, switches + 1}, looked)
    end
  end

  defp counted(sending, root, counters, {messages, exits, switches} = counts, looked) do
    received = messages + exits + switches

    if rem(received, @look_every) == 0 do
      :atomics.put(counters, @received, received)
      take(sending, root, counters, counts, now())
    else
      take(sending, root, counters, counts, looked)
    end
  end
end
