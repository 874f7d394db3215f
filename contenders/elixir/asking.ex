# Calls and selective receives, also with many queued messages: call, call-deep, reply-deep and
# selective.
defmodule Contender.Asking do
  import Contender.Clock
  alias Contender.EchoServer

  # Timeout of a call in ms: the default of GenServer.call/3.
  @call_timeout 5000

  # Number of receives that are timed together.
  @batch 100

  # call-deep; call is call-deep with no queued messages.
  def call(waiting, n) do
    fill(waiting)
    # The first collection moves the queued messages to the heap. That cost is not part of the
    # calls.
    :erlang.garbage_collect()

    {elapsed, {server, sent, received, times}} =
      time(fn ->
        {:ok, server} = GenServer.start_link(EchoServer, [])
        {sent, received, times} = calls(n, server, 0, 0, [])
        {server, sent, received, times}
      end)

    served = GenServer.call(server, :count)
    :ok = GenServer.stop(server)

    Map.merge(delays(times), %{
      elapsed_ns: elapsed,
      ops: n,
      sent: sent + served,
      received: received + served,
      waiting: left(0)
    })
  end

  defp calls(0, _, sent, received, times), do: {sent, received, times}

  defp calls(n, server, sent, received, times) when is_timed(n) do
    start = now()
    answered = answered(n, server)
    calls(n - 1, server, sent + 1, received + answered, [now() - start | times])
  end

  defp calls(n, server, sent, received, times),
    do: calls(n - 1, server, sent + 1, received + answered(n, server), times)

  defp answered(n, server) do
    case GenServer.call(server, {:echo, n}, @call_timeout) do
      ^n -> 1
      _ -> 0
    end
  end

  # reply-deep: requests to a process, and a receive by pattern for each reply. The compiler
  # recognises that the receive waits for the fresh reference.
  def reply(waiting, n) do
    fill(waiting)
    # As in call/2.
    :erlang.garbage_collect()

    {elapsed, {echo, sent, received}} =
      time(fn ->
        echo = spawn_link(fn -> echo(0) end)
        {sent, received} = replies(n, echo, 0, 0)
        {echo, sent, received}
      end)

    send(echo, {:count, self()})
    served = receive(do: ({^echo, served} -> served))

    %{
      elapsed_ns: elapsed,
      ops: n,
      sent: sent + served,
      received: received + served,
      waiting: left(0)
    }
  end

  defp replies(0, _, sent, received), do: {sent, received}

  defp replies(n, echo, sent, received) do
    request = make_ref()
    send(echo, {request, n, self()})

    receive do
      {^request, ^n} -> replies(n - 1, echo, sent + 1, received + 1)
    end
  end

  defp echo(served) do
    receive do
      {request, number, from} ->
        send(from, {request, number})
        echo(served + 1)

      {:count, from} ->
        send(from, {self(), served})
    end
  end

  defp fill(count), do: Enum.each(1..count//1, &send(self(), {:waiting, &1}))

  # Empties the mailbox. Returns the number of queued messages.
  defp left(count) do
    receive do
      {:waiting, _} -> left(count + 1)
    after
      0 -> count
    end
  end

  def selective(k, reps) do
    fill(k)
    {elapsed, received} = batches(reps, 0, 0)
    %{elapsed_ns: elapsed, ops: reps, sent: reps, received: received, waiting: left(0)}
  end

  defp batches(0, elapsed, received), do: {elapsed, received}

  defp batches(left, elapsed, received) do
    batch = min(left, @batch)
    Enum.each(1..batch, &send(self(), {:wanted, &1}))
    {taking, taken} = time(fn -> take(batch, 0) end)
    batches(left - batch, elapsed + taking, received + taken)
  end

  defp take(0, taken), do: taken
  defp take(left, taken), do: receive(do: ({:wanted, _} -> take(left - 1, taken + 1)))
end

# Server of the calls: replies with the argument and counts the calls.
defmodule Contender.EchoServer do
  use GenServer

  @impl true
  def init([]), do: {:ok, 0}

  @impl true
  def handle_call({:echo, what}, _from, served), do: {:reply, what, served + 1}
  def handle_call(:count, _from, served), do: {:reply, served, served}
end
