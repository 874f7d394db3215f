# For `mix format`, run in this folder.
[
  line_length: 110,
  inputs: [
    ".formatter.exs",
    "contenders/elixir/*.ex",
    "crates/*/tests/it/**/*.exs",
    "examples/elixir/mix.exs",
    "examples/elixir/lib/**/*.ex"
  ]
]
