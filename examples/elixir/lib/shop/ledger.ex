defmodule Shop.Ledger do
  @moduledoc "Keeps a total; both nodes call it."
  use GenServer

  def start_link(_), do: GenServer.start_link(__MODULE__, 0, name: __MODULE__)

  @impl true
  def init(total), do: {:ok, total}

  @impl true
  def handle_call({:add, amount}, _from, total), do: {:reply, total + amount, total + amount}
end
