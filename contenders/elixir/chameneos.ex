# Creatures that meet in pairs at a mall: chameneos.
defmodule Contender.Chameneos do
  import Contender.Clock
  alias Contender.Mall

  def run(creatures, n) do
    root = self()

    {elapsed, {mall, received}} =
      time(fn ->
        {:ok, mall} = Mall.start_link(n)

        for i <- 0..(creatures - 1) do
          spawn_link(fn -> creature(colour(rem(i, 3)), mall, root, 0) end)
        end

        {mall, meetings(creatures, 0)}
      end)

    met = Mall.count(mall)
    :ok = GenServer.stop(mall)
    %{elapsed_ns: elapsed, ops: n, sent: 2 * met, received: received}
  end

  defp colour(0), do: :blue
  defp colour(1), do: :red
  defp colour(2), do: :yellow

  defp creature(colour, mall, root, meetings) do
    case Mall.meet(mall, colour) do
      :closed -> send(root, {:meetings, meetings})
      other -> creature(complement(colour, other), mall, root, meetings + 1)
    end
  end

  # Own colour if both are equal, otherwise the third colour.
  defp complement(colour, colour), do: colour
  defp complement(:blue, :red), do: :yellow
  defp complement(:blue, :yellow), do: :red
  defp complement(:red, :blue), do: :yellow
  defp complement(:red, :yellow), do: :blue
  defp complement(:yellow, :blue), do: :red
  defp complement(:yellow, :red), do: :blue

  defp meetings(0, sum), do: sum
  defp meetings(left, sum), do: receive(do: ({:meetings, meetings} -> meetings(left - 1, sum + meetings)))
end

# The mall, which answers the first of a pair when the second comes. Its state: the first of a pair,
# the meetings left, and the meetings so far.
defmodule Contender.Mall do
  use GenServer

  def start_link(meetings), do: GenServer.start_link(__MODULE__, meetings)
  def meet(mall, colour), do: GenServer.call(mall, {:meet, colour}, :infinity)
  def count(mall), do: GenServer.call(mall, :count)

  @impl true
  def init(meetings), do: {:ok, {nil, meetings, 0}}

  @impl true
  def handle_call({:meet, _}, _from, {_, 0, _} = mall), do: {:reply, :closed, mall}

  def handle_call({:meet, colour}, from, {nil, left, met}),
    do: {:noreply, {{from, colour}, left, met}}

  def handle_call({:meet, colour}, _from, {{first, other}, left, met}) do
    GenServer.reply(first, colour)
    {:reply, other, {nil, left - 1, met + 1}}
  end

  def handle_call(:count, _from, {_, _, met} = mall), do: {:reply, met, mall}
end
