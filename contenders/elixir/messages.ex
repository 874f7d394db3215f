# Messages between long-lived processes: ping-pong, throughput, fan-in, fan-out and thread-ring.
defmodule Contender.Messages do
  import Contender.Clock
  import Contender.Processes, only: [shares: 2]

  def ping_pong(n) do
    root = self()

    {elapsed, {partner, sent, received, times}} =
      time(fn ->
        partner = spawn_link(fn -> pong(root, 0, 0) end)
        {sent, received, times} = ping(n, partner, 0, 0, [])
        {partner, sent, received, times}
      end)

    send(partner, :count)
    {more_sent, more_received} = receive do: ({:counted, s, r} -> {s, r})

    Map.merge(delays(times), %{
      elapsed_ns: elapsed,
      ops: n,
      sent: sent + more_sent,
      received: received + more_received
    })
  end

  defp ping(0, _, sent, received, times), do: {sent, received, times}

  defp ping(n, partner, sent, received, times) when is_timed(n) do
    start = now()
    send(partner, n)
    receive do: (^n -> ping(n - 1, partner, sent + 1, received + 1, [now() - start | times]))
  end

  defp ping(n, partner, sent, received, times) do
    send(partner, n)
    receive do: (^n -> ping(n - 1, partner, sent + 1, received + 1, times))
  end

  # Sends each number back.
  defp pong(root, sent, received) do
    receive do
      n when is_integer(n) ->
        send(root, n)
        pong(root, sent + 1, received + 1)

      :count ->
        send(root, {:counted, sent, received})
    end
  end

  # fan-in; throughput is fan-in with one sender. The last message of each sender is the number of
  # messages it sent.
  def fan_in(senders, n) do
    Process.flag(:message_queue_data, :off_heap)
    root = self()

    {elapsed, {sent, received, times}} =
      time(fn ->
        Enum.each(shares(n, senders), fn share ->
          spawn_link(fn -> send_all(share, root, 0) end)
        end)

        take_all(senders, 0, 0, [])
      end)

    Map.merge(delays(times), %{elapsed_ns: elapsed, ops: n, sent: sent, received: received})
  end

  defp send_all(0, root, sent), do: send(root, {:sent, sent})

  defp send_all(n, root, sent) when carries_time(n) do
    send(root, {:at, now()})
    send_all(n - 1, root, sent + 1)
  end

  defp send_all(n, root, sent) do
    send(root, n)
    send_all(n - 1, root, sent + 1)
  end

  defp take_all(0, sent, received, times), do: {sent, received, times}

  defp take_all(senders, sent, received, times) do
    receive do
      {:at, start} -> take_all(senders, sent, received + 1, [now() - start | times])
      {:sent, count} -> take_all(senders - 1, sent + count, received, times)
      _ -> take_all(senders, sent, received + 1, times)
    end
  end

  # Sends n messages to the receivers in turn. Each receiver reports when it has received its share.
  def fan_out(processes, n) do
    root = self()

    receivers =
      for place <- 1..processes do
        share = div(n, processes) + if place <= rem(n, processes), do: 1, else: 0

        spawn_link(fn ->
          send(root, :ready)
          take_share(share, root, 0)
        end)
      end

    Enum.each(receivers, fn _ -> receive do: (:ready -> :ok) end)

    {elapsed, {sent, received}} =
      time(fn ->
        sent = in_turn(receivers, receivers, n, 0)

        {sent, Enum.reduce(receivers, 0, fn _, sum -> receive do: ({:took, count} -> sum + count) end)}
      end)

    %{elapsed_ns: elapsed, ops: n, sent: sent, received: received}
  end

  defp in_turn(_, _, 0, sent), do: sent
  defp in_turn([], all, left, sent), do: in_turn(all, all, left, sent)

  defp in_turn([receiver | others], all, left, sent) do
    send(receiver, left)
    in_turn(others, all, left - 1, sent + 1)
  end

  defp take_share(0, root, taken), do: send(root, {:took, taken})

  defp take_share(left, root, taken),
    do: receive(do: (_ -> take_share(left - 1, root, taken + 1)))

  def thread_ring(processes, n) do
    root = self()
    last = spawn_link(fn -> receive do: ({:next, first} -> pass_on(first, root, 0, 0)) end)

    first =
      Enum.reduce(2..processes//1, last, fn _, next ->
        spawn_link(fn -> pass_on(next, root, 0, 0) end)
      end)

    send(last, {:next, first})

    {elapsed, :home} =
      time(fn ->
        send(first, n)
        receive do: (:home -> :home)
      end)

    send(first, :count)
    {sent, received} = collect(processes, 1, 0)
    %{elapsed_ns: elapsed, ops: n, sent: sent, received: received}
  end

  # The token carries the number of hops left, including the one that delivered it.
  defp pass_on(next, root, sent, received) do
    receive do
      1 ->
        send(root, :home)
        pass_on(next, root, sent, received + 1)

      hops when is_integer(hops) ->
        send(next, hops - 1)
        pass_on(next, root, sent + 1, received + 1)

      :count ->
        send(root, {:counted, sent, received})
        send(next, :count)
    end
  end

  defp collect(0, sent, received), do: {sent, received}

  defp collect(processes, sent, received) do
    receive do: ({:counted, s, r} -> collect(processes - 1, sent + s, received + r))
  end
end
