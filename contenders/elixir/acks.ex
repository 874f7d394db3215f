# Ack servers, as in the experiments of 2015: ack-request-reply to ack-async-ack.
#
# A listener, ten acceptors as in ranch, and one process per connection under a Task.Supervisor. The
# connection process owns its socket and reads in passive mode (active: false). One counter holds
# the number of acknowledged messages of all connections; it is updated per ack, not per message.
#
# The size of a read is limited by the runtime's default buffer of 1460 bytes per socket, as in
# 2015. The variant buffer-64k measures the effect of a larger buffer.
defmodule Contender.Acks do
  alias Contender.Acks.{AsyncAck, Collected, Connections, RequestReply, SyncAck}

  @strategies %{
    "ack-request-reply" => &RequestReply.serve/2,
    "ack-throttle" => &Collected.throttle/2,
    "ack-head-rest" => &Collected.head_rest/2,
    "ack-sync-ack" => &SyncAck.serve/2,
    "ack-async-ack" => &AsyncAck.serve/2
  }
  @classic ~w(ack-request-reply ack-throttle ack-head-rest ack-sync-ack ack-async-ack)
  @either "ack-sync-or-async"
  @acceptors 10

  # Socket options for the buffer, by variant. 64 KiB is the read size of purlin's servers of the
  # same strategies.
  @buffers %{"default-buffer" => [], "buffer-64k" => [buffer: 65_536]}

  # Variants of the experiment that compares two strategies, each with the default or the 64 KiB
  # buffer.
  @both %{
    "sync-ack" => {"ack-sync-ack", "default-buffer"},
    "async-ack" => {"ack-async-ack", "default-buffer"},
    "sync-ack-buffer-64k" => {"ack-sync-ack", "buffer-64k"},
    "async-ack-buffer-64k" => {"ack-async-ack", "buffer-64k"}
  }

  # Options of the listening socket. The send timeout, after which a client that does not read its
  # acks is disconnected, equals the idle timeout of Contender.Acks.Wire.
  @options [
    :binary,
    ip: {127, 0, 0, 1},
    packet: :raw,
    active: false,
    reuseaddr: true,
    nodelay: true,
    backlog: 1024,
    send_timeout: 5000,
    send_timeout_close: true
  ]

  def experiments, do: @classic ++ [@either]

  # The natural variant is first in each list.
  def variants do
    either = ~w(sync-ack async-ack sync-ack-buffer-64k async-ack-buffer-64k)

    @classic
    |> Map.new(&{String.to_atom(&1), ["default-buffer", "buffer-64k"]})
    |> Map.put(String.to_atom(@either), either)
  end

  # Validates a request. Returns the strategy, the buffer options, and the number of schedulers or
  # nil.
  def check(%{"experiment" => experiment} = request) when is_binary(experiment) do
    params = Map.get(request, "params", %{})
    is_map(params) || wrong("\"params\" must be an object")
    {strategy, buffer} = variant(experiment, Map.get(params, "variant"))

    case Map.keys(params) -- ["cores", "variant"] do
      [] ->
        {Map.fetch!(@strategies, strategy), Map.fetch!(@buffers, buffer), cores(params["cores"])}

      [other | _] ->
        wrong("#{experiment}: unknown parameter #{inspect(other)}; it takes cores and variant")
    end
  end

  def check(_), do: wrong("the request has no \"experiment\" that is a string")

  defp variant(@either, name) do
    Map.get(@both, name || "sync-ack") || no_variant(@either, name, Map.keys(@both))
  end

  defp variant(experiment, name) when experiment in @classic do
    buffer = name || "default-buffer"
    Map.has_key?(@buffers, buffer) || no_variant(experiment, name, Map.keys(@buffers))
    {experiment, buffer}
  end

  defp variant(experiment, _) do
    known = Enum.join(experiments(), ", ")
    wrong("unknown experiment #{inspect(experiment)}; this contender serves #{known}")
  end

  defp no_variant(experiment, name, known),
    do: wrong("#{experiment}: variant must be #{Enum.join(known, " or ")}, not #{inspect(name)}")

  defp cores(nil), do: nil

  defp cores(cores) do
    most = :erlang.system_info(:schedulers)
    (is_integer(cores) and cores in 1..most) || wrong("cores must be an integer from 1 to #{most}")
    cores
  end

  defp wrong(what), do: throw({:bad_request, what})

  # Starts a server. Its supervisor is linked to the caller.
  def start({serve, buffer, cores}) do
    schedulers = :erlang.system_info(:schedulers_online)
    cores && :erlang.system_flag(:schedulers_online, cores)
    {:ok, listener} = :gen_tcp.listen(0, buffer ++ @options)
    {:ok, port} = :inet.port(listener)
    counter = :counters.new(1, [:atomics])

    acceptors =
      for number <- 1..@acceptors do
        accept = fn -> accept(listener, &serve.(&1, counter)) end
        Supervisor.child_spec({Task, accept}, id: {:acceptor, number})
      end

    {:ok, supervisor} =
      Supervisor.start_link([{Task.Supervisor, name: Connections} | acceptors],
        strategy: :one_for_one
      )

    %{
      address: "127.0.0.1:#{port}",
      listener: listener,
      supervisor: supervisor,
      counter: counter,
      schedulers: schedulers
    }
  end

  defp accept(listener, serve) do
    case :gen_tcp.accept(listener) do
      {:ok, socket} ->
        {:ok, connection} =
          Task.Supervisor.start_child(Connections, fn ->
            receive do: (:yours -> serve.(socket))
            :gen_tcp.close(socket)
          end)

        # Fails if the socket is already closed; its first read then fails, too.
        _ = :gen_tcp.controlling_process(socket, connection)
        send(connection, :yours)
        accept(listener, serve)

      {:error, :closed} ->
        :stopped

      # The client has gone, or no file descriptor is free: retry.
      {:error, _} ->
        Process.sleep(1)
        accept(listener, serve)
    end
  end

  # Closes the listener, waits until all connections have ended, and stops the server. Returns the
  # number of acknowledged messages.
  def stop(server) do
    :ok = :gen_tcp.close(server.listener)
    Enum.each(Task.Supervisor.children(Connections), &ended/1)
    :ok = Supervisor.stop(server.supervisor)
    :erlang.system_flag(:schedulers_online, server.schedulers)
    :counters.get(server.counter, 1)
  end

  defp ended(connection) do
    monitor = Process.monitor(connection)
    receive do: ({:DOWN, ^monitor, :process, ^connection, _} -> :ok)
  end
end
