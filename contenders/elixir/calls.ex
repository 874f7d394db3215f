# Cost of a function call and of a message: call-vs-send and tail-call.
defmodule Contender.Calls do
  import Contender.Clock

  # Interval in ms at which the watcher process samples the receiver's message queue.
  @look_every 5

  def tail_call(n, reps) do
    {elapsed, left} = time(fn -> repeat(reps, n, 0) end)
    %{elapsed_ns: elapsed, ops: n * reps, sent: 0, received: 0, left: left}
  end

  defp repeat(0, _, left), do: left
  defp repeat(reps, n, left), do: repeat(reps - 1, n, left + count_down(n))

  defp count_down(0), do: 0
  defp count_down(n), do: count_down(n - 1)

  def local(n) do
    {elapsed, left} = time(fn -> count_down(n) end)
    %{elapsed_ns: elapsed, ops: n - left, sent: 0, received: 0}
  end

  def remote(n) do
    root = self()
    options = [:link, message_queue_data: :off_heap]
    receiver = Process.spawn(fn -> drop_all(0) end, options)
    watcher = spawn_link(fn -> watch(receiver, root, 0, 0) end)
    {elapsed, sent} = time(fn -> send_down(n, receiver, 0) end)
    send(receiver, {:count, root})
    send(watcher, :stop)
    received = receive do: ({:received, count} -> count)
    {peak, bytes} = receive do: ({:peak, messages, memory} -> {messages, memory})

    %{
      elapsed_ns: elapsed,
      ops: n,
      sent: sent,
      received: received,
      queue_peak: peak,
      queue_peak_bytes: bytes
    }
  end

  defp send_down(0, _, sent), do: sent

  defp send_down(n, receiver, sent) do
    send(receiver, n)
    send_down(n - 1, receiver, sent + 1)
  end

  defp drop_all(count) do
    receive do
      n when is_integer(n) -> drop_all(count + 1)
      {:count, root} -> send(root, {:received, count})
    end
  end

  # Memory is recorded only if the message queue is not empty.
  defp watch(receiver, root, peak, bytes) do
    receive do
      :stop -> send(root, {:peak, peak, bytes})
    after
      @look_every ->
        case Process.info(receiver, [:message_queue_len, :memory]) do
          [message_queue_len: waiting, memory: memory] when waiting > 0 ->
            watch(receiver, root, max(peak, waiting), max(bytes, memory))

          _ ->
            watch(receiver, root, peak, bytes)
        end
    end
  end
end
