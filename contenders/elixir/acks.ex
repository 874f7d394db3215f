# Servers that acknowledge, as in the experiments of 2015: ack-request-reply to ack-async-ack.
#
# A listener, ten acceptors as ranch has them, and under a Task.Supervisor a process for each
# connection, which owns its socket and reads from it when it is ready to (active: false). What they
# have acknowledged is counted in one place, by ack and not by message.
defmodule Contender.Acks do
  alias Contender.Acks.{AsyncAck, Collected, Connections, RequestReply, SyncAck}

  @strategies %{
    "ack-request-reply" => &RequestReply.serve/2,
    "ack-throttle" => &Collected.throttle/2,
    "ack-head-rest" => &Collected.head_rest/2,
    "ack-sync-ack" => &SyncAck.serve/2,
    "ack-async-ack" => &AsyncAck.serve/2
  }
  @either "ack-sync-or-async"
  @acceptors 10

  # What a socket is listened on with. The buffer is as large as what purlin's servers of the same
  # strategies read into; how long a client may not read its acks is as long as it may be silent.
  @options [
    :binary,
    ip: {127, 0, 0, 1},
    packet: :raw,
    active: false,
    reuseaddr: true,
    nodelay: true,
    backlog: 1024,
    buffer: 65_536,
    send_timeout: 5000,
    send_timeout_close: true
  ]

  def experiments,
    do: ~w(ack-request-reply ack-throttle ack-head-rest ack-sync-ack ack-async-ack) ++ [@either]

  def variants, do: %{:"ack-sync-or-async" => ["sync-ack", "async-ack"]}

  # What is to be served, and on how many schedulers if that is told.
  def check(%{"experiment" => experiment} = request) when is_binary(experiment) do
    params = Map.get(request, "params", %{})
    is_map(params) || wrong("\"params\" must be an object")
    {strategy, taken} = strategy(experiment, params)

    case Map.keys(params) -- ["cores" | taken] do
      [] -> {Map.fetch!(@strategies, strategy), cores(Map.get(params, "cores"))}
      [other | _] -> wrong("#{experiment}: unknown parameter #{inspect(other)}; it takes cores")
    end
  end

  def check(_), do: wrong("the request has no \"experiment\" that is a string")

  defp strategy(@either, params) do
    case Map.get(params, "variant", "sync-ack") do
      variant when variant in ["sync-ack", "async-ack"] -> {"ack-" <> variant, ["variant"]}
      other -> wrong("#{@either}: variant must be sync-ack or async-ack, not #{inspect(other)}")
    end
  end

  defp strategy(experiment, _) do
    if Map.has_key?(@strategies, experiment) do
      {experiment, []}
    else
      known = Enum.join(experiments(), ", ")
      wrong("unknown experiment #{inspect(experiment)}; this contender serves #{known}")
    end
  end

  defp cores(nil), do: nil

  defp cores(cores) do
    most = :erlang.system_info(:schedulers)
    (is_integer(cores) and cores in 1..most) || wrong("cores must be an integer from 1 to #{most}")
    cores
  end

  defp wrong(what), do: throw({:bad_request, what})

  # Starts a server. Its processes are linked to who starts it.
  def start({serve, cores}) do
    schedulers = :erlang.system_info(:schedulers_online)
    cores && :erlang.system_flag(:schedulers_online, cores)
    {:ok, listener} = :gen_tcp.listen(0, @options)
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
