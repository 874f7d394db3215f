# Servers with one process per connection: request-reply and sync-ack.

# Replies to each message with its id. The size field is big-endian for this strategy only.
defmodule Contender.Acks.RequestReply do
  alias Contender.Acks.Wire

  def serve(socket, counter), do: serve(socket, counter, "")

  defp serve(socket, counter, <<id::binary-8, size::32, _::binary-size(size), rest::binary>>) do
    with :ok <- :gen_tcp.send(socket, id) do
      :counters.add(counter, 1, 1)
      serve(socket, counter, rest)
    end
  end

  defp serve(socket, counter, <<id::64, size::32, _::binary>> = rest) do
    with true <- Wire.fits?(<<id::64, size::little-32>>),
         {:ok, data} <- Wire.more(socket, rest),
         do: serve(socket, counter, data)
  end

  defp serve(socket, counter, rest) do
    with {:ok, data} <- Wire.more(socket, rest), do: serve(socket, counter, data)
  end
end

# Reads the available data and acknowledges it before the next read.
defmodule Contender.Acks.SyncAck do
  alias Contender.Acks.Wire

  def serve(socket, counter), do: serve(socket, counter, "")

  defp serve(socket, counter, rest) do
    with {:ok, block} <- Wire.more(socket, rest),
         {rest, newest, count} = Wire.skim(block),
         :ok <- Wire.acknowledge(socket, counter, newest, count),
         true <- Wire.fits?(rest),
         do: serve(socket, counter, rest)
  end
end
