# The servers whose connection is one process: request-reply and sync-ack.

# One message, one answer: its id. The size is big-endian here.
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

# Reads whatever there is, and acknowledges it before it reads again.
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
