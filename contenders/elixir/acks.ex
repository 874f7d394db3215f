# Servers that acknowledge, as in the experiments of 2015: ack-request-reply to ack-async-ack.
#
# A listener, ten acceptors as ranch has them, and under a Task.Supervisor a process for each
# connection, which owns its socket and reads from it when it is ready to (active: false). What they
# have acknowledged is counted in one place, by ack and not by message.
#
# How much a read gives is the runtime's to say, as it was then: it has a buffer of 1460 bytes for each
# socket. What a larger one is worth is the variant buffer-64k.
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

  # Whatever there is beside the runtime's default, by variant: as much as purlin's servers of the same
  # strategies read at a time.
  @buffers %{"default-buffer" => [], "buffer-64k" => [buffer: 65_536]}

  # The variants of the experiment that compares two strategies; the buffer is the default unless said.
  @both %{
    "sync-ack" => {"ack-sync-ack", "default-buffer"},
    "async-ack" => {"ack-async-ack", "default-buffer"},
    "sync-ack-buffer-64k" => {"ack-sync-ack", "buffer-64k"},
    "async-ack-buffer-64k" => {"ack-async-ack", "buffer-64k"}
  }

  # What a socket is listened on with. How long a client may not read its acks is as long as it may be
  # silent.
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

  # The natural ones first.
  def variants do
    either = ~w(sync-ack async-ack sync-ack-buffer-64k async-ack-buffer-64k)

    @classic
    |> Map.new(&{String.to_atom(&1), ["default-buffer", "buffer-64k"]})
    |> Map.put(String.to_atom(@either), either)
  end

  # What is to be served, with which buffer, and on how many schedulers if that is told.
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

  # Starts a server. Its processes are linked to who starts it.
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

        # One that is closed already goes to nobody.
        _ = :gen_tcp.controlling_process(socket, connection)
        send(connection, :yours)
        accept(listener, serve)

      {:error, :closed} ->
        :stopped

      # Nobody, or no descriptor: the next may come.
      {:error, _} ->
        Process.sleep(1)
        accept(listener, serve)
    end
  end

  # Stops it when all connections have ended, and gives how many messages were acknowledged.
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
