defmodule Shop.MixProject do
  use Mix.Project

  def project, do: [app: :shop, version: "0.1.0", elixir: "~> 1.14", deps: []]
  def application, do: [mod: {Shop.Application, []}, extra_applications: [:logger]]
end
