# Wire format. A message is an id of 8 bytes, a payload size of 4 bytes and the payload. An ack is
# the id of a message and the number of earlier messages that are acknowledged with it.
defmodule Contender.Acks.Wire do
  # Maximum payload size in bytes.
  @largest 16_777_216

  # Idle timeout of a client in ms.
  @silence 5000

  # Skips the complete messages of a block. Returns the remaining bytes, the newest id, and the
  # number of messages.
  def skim(block), do: skim(block, 0, 0)

  defp skim(<<id::little-64, size::little-32, _::binary-size(size), rest::binary>>, _, count),
    do: skim(rest, id, count + 1)

  defp skim(rest, newest, count), do: {rest, newest, count}

  # Returns whether the remaining bytes of a block can become a message of valid size.
  def fits?(<<_::64, size::little-32, _::binary>>), do: size <= @largest
  def fits?(_), do: true

  # Reads exactly size bytes.
  def exactly(_, 0), do: {:ok, ""}

  def exactly(socket, size) when size <= @largest,
    do: :gen_tcp.recv(socket, size, @silence)

  def exactly(_, _), do: {:error, :too_large}

  # Reads the available data and appends it to the remaining bytes.
  def more(socket, rest) do
    with {:ok, data} <- :gen_tcp.recv(socket, 0, @silence), do: {:ok, join(rest, data)}
  end

  # WHY the first clause: without it, the block would be copied.
  def join("", data), do: data
  def join(rest, data), do: rest <> data

  # Acknowledges count messages up to the id newest.
  def acknowledge(_, _, _, 0), do: :ok

  def acknowledge(socket, counter, newest, count) do
    with :ok <- :gen_tcp.send(socket, <<newest::little-64, count - 1::little-32>>) do
      :counters.add(counter, 1, count)
    end
  end
end
