# Messages and acks as bytes: an id of eight that is given back, a size of four, a payload; an ack is an
# id and how many messages before it are acknowledged with it.
defmodule Contender.Acks.Wire do
  # The largest payload, in bytes.
  @largest 16_777_216

  # How long a client may be silent, in ms.
  @silence 5000

  # The whole messages of a block: what is left, the newest id, and how many there were.
  def skim(block), do: skim(block, 0, 0)

  defp skim(<<id::little-64, size::little-32, _::binary-size(size), rest::binary>>, _, count),
    do: skim(rest, id, count + 1)

  defp skim(rest, newest, count), do: {rest, newest, count}

  # Whether what is left of a block can become a message.
  def fits?(<<_::64, size::little-32, _::binary>>), do: size <= @largest
  def fits?(_), do: true

  # Reads exactly so many bytes.
  def exactly(_, 0), do: {:ok, ""}

  def exactly(socket, size) when size <= @largest,
    do: :gen_tcp.recv(socket, size, @silence)

  def exactly(_, _), do: {:error, :too_large}

  # Reads whatever there is behind what is left.
  def more(socket, rest) do
    with {:ok, data} <- :gen_tcp.recv(socket, 0, @silence), do: {:ok, join(rest, data)}
  end

  # WHY: without the first the block would be copied.
  def join("", data), do: data
  def join(rest, data), do: rest <> data

  # Acknowledges so many messages up to this one.
  def acknowledge(_, _, _, 0), do: :ok

  def acknowledge(socket, counter, newest, count) do
    with :ok <- :gen_tcp.send(socket, <<newest::little-64, count - 1::little-32>>) do
      :counters.add(counter, 1, count)
    end
  end
end
