defmodule Shop.Application do
  @moduledoc "The supervision tree: a ledger in Elixir, and a purlin node."
  use Application

  @impl true
  def start(_type, _args) do
    children = [Shop.Ledger, Shop.Native]
    Supervisor.start_link(children, strategy: :one_for_one, max_restarts: 10, name: Shop.Supervisor)
  end
end
