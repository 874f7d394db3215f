# Many senders, one receiver, messages and exit signals: signals.
#
# Draws, room and lateness are those of contenders/protocol/src/signals.rs.
defmodule Contender.Signals do
  import Bitwise
  import Contender.Clock

  # Signals from one look at the clock, and at the room that is left, to the next.
  @look_every 64

  # The draws there are: of each of them one asks for off_heap and one for on_heap.
  @outcomes 200_000

  # How many are on their way, in counters that all of a run share.
  @sent 1
  @received 2

  def run(%{senders: senders, ms: ms} = asked) do
    root = self()
    counters = :atomics.new(2, [])

    receiver =
      :erlang.spawn_opt(
        fn ->
          Process.flag(:trap_exit, true)
          send(root, :ready)
          take(senders, root, counters, {0, 0, 0})
        end,
        message_queue_data: asked.variant
      )

    pids =
      for number <- 0..(senders - 1) do
        spawn_link(fn -> sender(number, asked, counters, receiver, root) end)
      end

    # An exit signal must not come before the receiver traps exits.
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
    {{messages, exits, switches}, received} = receive do: ({:received, all, at} -> {all, at})
    sum = fn name -> accounts |> Enum.map(& &1[name]) |> Enum.sum() end
    begun = accounts |> Enum.map(& &1.begun) |> Enum.min()

    ended =
      case asked.mode do
        :send -> accounts |> Enum.map(& &1.ended) |> Enum.max()
        :receive -> received
      end

    %{
      elapsed_ns: ended - begun,
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
    first = band(number * 1_073_741_789 + 1, 0x7FFFFFFF)
    {sent, in_time, cut} = send_all(first, signal, 0, {counters, asked.room, due}, nil)
    late = if in_time, do: sent - in_time, else: 0
    send(root, {:sent, %{begun: begun, ended: now(), sent: sent, late: late, cut: cut}})
    send(receiver, :last)
  end

  # Looks for the word to stop before every signal.
  defp send_all(x, signal, sent, limits, in_time) do
    receive do
      :stop -> {sent, in_time, 0}
    after
      0 ->
        next = band(x * 20_077 + 12_345, 0x7FFFFFFF)
        signal.(bsr(next * @outcomes, 31))

        if rem(sent + 1, @look_every) == 0,
          do: look(next, signal, sent + 1, limits, in_time),
          else: send_all(next, signal, sent + 1, limits, in_time)
    end
  end

  defp look(x, signal, sent, {counters, room, due} = limits, in_time) do
    in_time = if in_time == nil and now() > due, do: sent, else: in_time
    under_way = :atomics.add_get(counters, @sent, @look_every) - :atomics.get(counters, @received)

    if under_way < room,
      do: send_all(x, signal, sent, limits, in_time),
      else: {sent, in_time, 1}
  end

  # Counts all that comes, until each sender has sent its last.
  defp take(0, root, _, all), do: send(root, {:received, all, now()})

  defp take(sending, root, counters, {messages, exits, switches}) do
    received = messages + exits + switches
    if rem(received, @look_every) == 0, do: :atomics.put(counters, @received, received)

    receive do
      list when is_list(list) ->
        take(sending, root, counters, {messages + 1, exits, switches})

      {:EXIT, _, _} ->
        take(sending, root, counters, {messages, exits + 1, switches})

      :last ->
        take(sending - 1, root, counters, {messages, exits, switches})

      queue ->
        Process.flag(:message_queue_data, queue)
        take(sending, root, counters, {messages, exits, switches + 1})
    end
  end
end
