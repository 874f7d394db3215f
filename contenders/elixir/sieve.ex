# Chain of filters that find the primes: sieve.
#
# Filters are plain processes. A filter's queue is off_heap, as the runtime's documentation advises
# for a queue that may become long: the producer is faster than the filters, and none of them waits.
defmodule Contender.Sieve do
  import Contender.Clock
  import Contender.Savina, only: [repeat: 2]

  def run(n, local, reps), do: repeat(reps, fn -> primes(n, local) end)

  defp primes(n, local) do
    root = self()

    {elapsed, {primes, ended}} =
      time(fn ->
        first = new_filter(2, local, 0, root)
        spawn_link(fn -> produce(3, n, first, root, 0) end)
        filters = receive do: ({:filters, filters} -> filters)
        reports(filters, 0, 0)
      end)

    sent = receive do: ({:produced, produced} -> produced)
    %{elapsed_ns: elapsed, ops: div(n - 1, 2), sent: sent, received: ended, primes: primes}
  end

  defp produce(number, n, first, root, sent) when number > n do
    send(first, {:end, 1})
    send(root, {:produced, sent})
  end

  defp produce(number, n, first, root, sent) do
    send(first, number)
    produce(number + 2, n, first, root, sent + 1)
  end

  defp reports(0, primes, ended), do: {primes, ended}

  defp reports(left, primes, ended),
    do: receive(do: ({:filter, p, e} -> reports(left - 1, primes + p, ended + e)))

  # ended is 1 if the prime is a candidate, and 0 for the first filter's.
  defp new_filter(prime, local, ended, root) do
    filter = fn -> filter([prime], [], 1, local, nil, ended, root) end
    :erlang.spawn_opt(filter, [:link, message_queue_data: :off_heap])
  end

  # Primes are in ascending order, and new are later ones, the latest first: to append each would copy
  # the list for each. ended is the number of candidates that were dropped or kept here.
  # The last filter also tells the root how many there are.
  defp filter(primes, new, count, local, next, ended, root) do
    receive do
      {:end, place} ->
        send(root, {:filter, count, ended})
        if next, do: send(next, {:end, place + 1}), else: send(root, {:filters, place})

      number ->
        cond do
          divides(primes, number) or divides(new, number) ->
            filter(primes, new, count, local, next, ended + 1, root)

          next ->
            send(next, number)
            filter(primes, new, count, local, next, ended, root)

          count < local and rem(count, 32) == 0 ->
            all = primes ++ Enum.reverse(new, [number])
            filter(all, [], count + 1, local, next, ended + 1, root)

          count < local ->
            filter(primes, [number | new], count + 1, local, next, ended + 1, root)

          true ->
            filter(primes, new, count, local, new_filter(number, local, 1, root), ended, root)
        end
    end
  end

  defp divides([], _), do: false
  defp divides([prime | _], number) when rem(number, prime) == 0, do: true
  defp divides([_ | primes], number), do: divides(primes, number)
end
