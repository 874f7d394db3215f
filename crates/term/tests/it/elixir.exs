# Prints whether the term written by Rust equals the expected struct, then terms encoded by Elixir, one per line.
defmodule Shop.Order do
  defstruct [:item, count: 1, note: nil]
end

[written] = System.argv()
read = :erlang.binary_to_term(Base.decode16!(written, case: :lower))
IO.puts(read === struct(Shop.Order, item: "tea", count: 2))

for term <- [
      struct(Shop.Order, item: "tea", count: 2),
      [item: "tea", count: 2],
      [struct(Shop.Order, item: "åäö", note: ~c"list"), nil],
      {:error, %{"item" => "tea", "count" => 2, "note" => "n"}}
    ] do
  IO.puts(Base.encode16(:erlang.term_to_binary(term), case: :lower))
end
