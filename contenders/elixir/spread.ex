# Processes that alternately call one server and compute: spread.
defmodule Contender.Spread do
  import Contender.Clock
  import Contender.Exchange, only: [work: 2]
  alias Contender.EchoServer

  # Steps of work that are timed for the calibration, and number of times.
  @steps 200_000
  @times 10

  def run(processes, n, us) do
    # At least 1, because it is a divisor.
    shortest = Enum.min(for _ <- 1..@times, do: max(1, elem(time(fn -> work(@steps, 1) end), 0)))
    steps = max(1, div(@steps * us * 1000 + div(shortest, 2), shortest))
    root = self()

    {elapsed, {server, sent, received, sink}} =
      time(fn ->
        {:ok, server} = GenServer.start_link(EchoServer, [])
        for _ <- 1..processes, do: spawn_link(fn -> worker(n, 1, steps, server, root, 0, 0) end)
        {sent, received, sink} = collect(processes, 0, 0, 0)
        {server, sent, received, sink}
      end)

    served = GenServer.call(server, :count)
    :ok = GenServer.stop(server)

    %{
      elapsed_ns: elapsed,
      ops: processes * n,
      sent: sent + served,
      received: received + served,
      steps: steps,
      calibration_ns: shortest,
      sink: sink
    }
  end

  defp worker(0, x, _, _, root, sent, received), do: send(root, {:worked, x, sent, received})

  defp worker(n, x, steps, server, root, sent, received) do
    answered = if GenServer.call(server, {:echo, x}, :infinity) == x, do: 1, else: 0
    worker(n - 1, work(steps, x), steps, server, root, sent + 1, received + answered)
  end

  defp collect(0, sent, received, sink), do: {sent, received, sink}

  defp collect(left, sent, received, sink),
    do: receive(do: ({:worked, x, s, r} -> collect(left - 1, sent + s, received + r, sink + x)))
end
