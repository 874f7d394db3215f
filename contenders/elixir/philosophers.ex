# Philosophers that ask an arbiter for their forks: philosophers.
defmodule Contender.Philosophers do
  import Bitwise
  import Contender.Clock
  alias Contender.Arbiter

  def run(philosophers, n) do
    root = self()

    {elapsed, {arbiter, received, denied}} =
      time(fn ->
        {:ok, arbiter} = Arbiter.start_link()

        for i <- 0..(philosophers - 1) do
          forks = bor(bsl(1, i), bsl(1, rem(i + 1, philosophers)))
          spawn_link(fn -> philosopher(n, forks, arbiter, root, 0, 0) end)
        end

        {received, denied} = collect(philosophers, 0, 0)
        {arbiter, received, denied}
      end)

    granted = Arbiter.count(arbiter)
    :ok = GenServer.stop(arbiter)
    %{elapsed_ns: elapsed, ops: philosophers * n, sent: granted, received: received, denied: denied}
  end

  defp philosopher(0, _, _, root, eaten, denied), do: send(root, {:eaten, eaten, denied})

  defp philosopher(n, forks, arbiter, root, eaten, denied) do
    case Arbiter.hungry(arbiter, forks) do
      :eat ->
        Arbiter.done(arbiter, forks)
        philosopher(n - 1, forks, arbiter, root, eaten + 1, denied)

      :denied ->
        philosopher(n, forks, arbiter, root, eaten, denied + 1)
    end
  end

  defp collect(0, eaten, denied), do: {eaten, denied}

  defp collect(left, eaten, denied),
    do: receive(do: ({:eaten, e, d} -> collect(left - 1, eaten + e, denied + d)))
end

# The arbiter. Its state: the taken forks, as the bits of an integer, and the meals granted.
defmodule Contender.Arbiter do
  use GenServer
  import Bitwise

  def start_link, do: GenServer.start_link(__MODULE__, [])
  def hungry(arbiter, forks), do: GenServer.call(arbiter, {:hungry, forks})
  def done(arbiter, forks), do: GenServer.cast(arbiter, {:done, forks})
  def count(arbiter), do: GenServer.call(arbiter, :count)

  @impl true
  def init([]), do: {:ok, {0, 0}}

  @impl true
  def handle_call({:hungry, forks}, _from, {taken, granted}) when band(taken, forks) == 0,
    do: {:reply, :eat, {bor(taken, forks), granted + 1}}

  def handle_call({:hungry, _}, _from, state), do: {:reply, :denied, state}
  def handle_call(:count, _from, {_, granted} = state), do: {:reply, granted, state}

  @impl true
  def handle_cast({:done, forks}, {taken, granted}), do: {:noreply, {bxor(taken, forks), granted}}
end
