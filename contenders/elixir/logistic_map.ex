# Series of the logistic map, each with a worker that waits for its computer: logistic-map.
#
# Both are GenServers. The worker asks its computer with a call, during which it handles no other
# message. Its queue is off_heap, as the runtime's documentation advises for a queue that may become
# long.
defmodule Contender.LogisticMap do
  import Contender.Clock
  import Contender.Savina, only: [repeat: 2]
  alias Contender.{SeriesWorker, TermComputer}

  def run(series, terms, reps), do: repeat(reps, fn -> series(series, terms) end)

  defp series(series, terms) do
    {elapsed, {pairs, ordered, results}} =
      time(fn ->
        pairs = for i <- 0..(series - 1), do: start_pair(i)
        ordered = in_turn(terms, pairs, 0)
        for {worker, _} <- pairs, do: GenServer.cast(worker, {:get, self()})
        {pairs, ordered, for({worker, _} <- pairs, do: term_of(worker))}
      end)

    computed =
      for {worker, computer} <- pairs do
        computed = GenServer.call(computer, :count)
        :ok = GenServer.stop(worker)
        :ok = GenServer.stop(computer)
        computed
      end

    %{
      elapsed_ns: elapsed,
      ops: series * terms,
      sent: ordered + Enum.sum(computed) + Enum.sum(for {_, sent, _} <- results, do: sent),
      received: Enum.sum(computed) + Enum.sum(for {_, _, received} <- results, do: received),
      sum: Enum.sum(for {x, _, _} <- results, do: trunc(x * 1.0e9))
    }
  end

  defp start_pair(i) do
    {:ok, computer} = GenServer.start_link(TermComputer, (1384 + i) / 400)

    {:ok, worker} =
      GenServer.start_link(SeriesWorker, {(i + 1) / 400, computer}, spawn_opt: [message_queue_data: :off_heap])

    {worker, computer}
  end

  defp in_turn(0, _, sent), do: sent
  defp in_turn(terms, pairs, sent), do: in_turn(terms - 1, pairs, next_of_all(pairs, sent))

  defp next_of_all([], sent), do: sent

  defp next_of_all([{worker, _} | others], sent) do
    GenServer.cast(worker, :next)
    next_of_all(others, sent + 1)
  end

  defp term_of(worker), do: receive(do: ({:term, ^worker, x, sent, received} -> {x, sent, received}))
end

# Worker of a series. Its state: the term, the computer, and the messages sent and received.
defmodule Contender.SeriesWorker do
  use GenServer

  @impl true
  def init({x, computer}), do: {:ok, {x, computer, 0, 0}}

  @impl true
  def handle_cast(:next, {x, computer, sent, received}) do
    next = GenServer.call(computer, {:compute, x}, :infinity)
    {:noreply, {next, computer, sent + 1, received + 2}}
  end

  def handle_cast({:get, root}, {x, _, sent, received} = state) do
    send(root, {:term, self(), x, sent, received})
    {:noreply, state}
  end
end

# Computer of a series. Its state: the rate, and the number of terms that it computed.
defmodule Contender.TermComputer do
  use GenServer

  @impl true
  def init(rate), do: {:ok, {rate, 0}}

  @impl true
  def handle_call({:compute, x}, _from, {rate, computed}),
    do: {:reply, rate * x * (1.0 - x), {rate, computed + 1}}

  def handle_call(:count, _from, {_, computed} = state), do: {:reply, computed, state}
end
