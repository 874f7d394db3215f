# Transfers between accounts, each of which waits for the confirmation of a deposit: banking.
#
# An account is a GenServer. It deposits with a call, during which it handles no other message; the
# call has no timeout, because the deposit waits behind what is queued at its destination.
defmodule Contender.Banking do
  use GenServer
  import Contender.Clock
  import Contender.Savina

  @balance 1_000_000
  @amounts 1000

  def run(accounts, n, reps), do: repeat(reps, fn -> bank(accounts, n) end)

  # The calling process is the teller.
  defp bank(count, n) do
    {elapsed, {accounts, ordered, done}} =
      time(fn ->
        accounts = for _ <- 1..count, do: start_account()
        ordered = order(n, stream(0), List.to_tuple(accounts), 0)
        {accounts, ordered, done(n, 0)}
      end)

    totals = %{elapsed_ns: elapsed, ops: n, sent: ordered, received: done, sum: 0}

    Enum.reduce(accounts, totals, fn account, totals ->
      figures = GenServer.call(account, :report)
      :ok = GenServer.stop(account)
      Map.merge(totals, figures, fn _, one, other -> one + other end)
    end)
  end

  defp start_account do
    {:ok, account} = GenServer.start_link(__MODULE__, @balance)
    account
  end

  # A destination has a higher number than its source, so accounts never wait for each other in a
  # circle.
  defp order(0, _, _, sent), do: sent

  defp order(n, x, accounts, sent) do
    count = tuple_size(accounts)
    for_source = next(x)
    for_destination = next(for_source)
    for_amount = next(for_destination)
    source = below(div(count * 4, 5), for_source)
    destination = source + 1 + below(count - source - 1, for_destination)
    amount = 1 + below(@amounts, for_amount)
    transfer = {:transfer, amount, elem(accounts, destination), self()}
    GenServer.cast(elem(accounts, source), transfer)
    order(n - 1, for_amount, accounts, sent + 1)
  end

  defp done(0, received), do: received
  defp done(n, received), do: receive(do: (:done -> done(n - 1, received + 1)))

  # The state: the balance, and the messages sent and received.
  @impl true
  def init(balance), do: {:ok, {balance, 0, 0}}

  @impl true
  def handle_cast({:transfer, amount, destination, teller}, {balance, sent, received}) do
    :ok = GenServer.call(destination, {:deposit, amount}, :infinity)
    send(teller, :done)
    {:noreply, {balance - amount, sent + 2, received + 2}}
  end

  @impl true
  def handle_call({:deposit, amount}, _from, {balance, sent, received}),
    do: {:reply, :ok, {balance + amount, sent + 1, received + 1}}

  def handle_call(:report, _from, {balance, sent, received} = state),
    do: {:reply, %{sum: balance, sent: sent, received: received}, state}
end
