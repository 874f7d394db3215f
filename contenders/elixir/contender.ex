# Elixir contender of the lab: GenServer, Supervisor and plain processes, in idiomatic code.
#
#   erlc -o DIR contenders/beam/mini_json.erl contenders/beam/params.erl
#   elixirc -o DIR contenders/elixir/*.ex
#   elixir --erl "+P 4000000" -pa DIR -e "Contender.main()"
#   {"op":"run","experiment":"ping-pong","params":{"n":100000}}
#
# It runs on the same runtime as the contender in Erlang and shares its request parser, which runs
# outside every clock: mini_json.erl and params.erl. As for that contender, the lab must pass
# +P 4000000, all other settings are the defaults, and each run has a fresh process.
defmodule Contender do
  alias Contender.{
    Acks,
    Asking,
    Calls,
    Exchange,
    Exits,
    Hog,
    Idle,
    Messages,
    Processes,
    Restarts,
    Signals,
    Timers
  }

  alias Contender.{
    Banking,
    Big,
    BoundedBuffer,
    Chameneos,
    Dictionary,
    LogisticMap,
    Philosophers,
    Sieve,
    Spread
  }

  @line_max 1_048_576

  def main do
    # Log to standard error: standard output carries the answers. The level omits the reports of
    # supervisors about started children.
    :ok = :logger.set_primary_config(:level, :notice)
    :logger.remove_handler(:default)
    :ok = :logger.add_handler(:default, :logger_std_h, %{config: %{type: :standard_error}})
    :ok = :io.setopts(:standard_io, binary: true, encoding: :latin1)
    serve(nil)
  end

  # The argument is the running server, or nil.
  defp serve(server) do
    with line when is_binary(line) <- IO.binread(:stdio, :line),
         {reply, server} <- answer(line, server) do
      IO.binwrite(:stdio, [:mini_json.encode(reply), ?\n])
      serve(server)
    else
      _quit_or_end -> System.halt(0)
    end
  end

  defp answer(line, server) when byte_size(line) > @line_max,
    do: {refuse("the line is longer than #{@line_max} bytes"), server}

  defp answer(line, server) do
    line |> String.replace_suffix("\n", "") |> :mini_json.decode() |> request(server)
  catch
    {:bad_json, what} -> {refuse(["not a line of JSON: ", what]), server}
    {:bad_request, what} -> {refuse(what), server}
  end

  defp refuse(what), do: %{error: :unicode.characters_to_binary(what)}

  defp request(%{"op" => "hello"}, server), do: {hello(), server}
  defp request(%{"op" => "quit"}, _), do: :quit

  defp request(%{"op" => "run"} = request, server) do
    {experiment, params} = :params.check(request)
    {in_fresh_process(fn -> run(experiment, params) end), server}
  end

  defp request(%{"op" => "serve"} = request, nil) do
    server = request |> Acks.check() |> Acks.start()
    {%{address: server.address}, server}
  end

  defp request(%{"op" => "serve"}, server),
    do: {refuse("a server runs already, at #{server.address}; stop it first"), server}

  defp request(%{"op" => "stop"}, nil), do: {refuse("no server runs that could be stopped"), nil}
  defp request(%{"op" => "stop"}, server), do: {%{received: Acks.stop(server)}, nil}

  defp request(_, server) do
    known = "\"hello\", \"run\", \"serve\", \"stop\" or \"quit\""
    {refuse("a request is a JSON object with an \"op\": " <> known), server}
  end

  defp hello do
    system = &:erlang.system_info/1

    runtime = "Erlang/OTP #{system.(:otp_release)}, erts #{system.(:version)}, #{system.(:emu_flavor)}"

    %{
      name: "elixir",
      version: "Elixir #{System.version()} on #{runtime}",
      os_pid: String.to_integer(System.pid()),
      experiments: :params.experiments() ++ Acks.experiments(),
      variants: Map.put(Acks.variants(), :signals, ["off_heap"]),
      notes: [
        "#{system.(:schedulers_online)} schedulers, at most #{system.(:process_limit)} processes; all else as the runtime has it",
        "every experiment runs in a fresh process, spawned with no options; its modules are compiled beforehand",
        "work is done in small integers: the product is below 2^46",
        "call-vs-send, throughput, fan-in, fork-join, signals: the receiver's message_queue_data is off_heap; on_heap, and the variants of other experiments, are measured on beam",
        "Savina programs: accounts, workers and computers of logistic-map and whatever is called are GenServers, which wait with a call for another's answer; the dictionary's map is an Elixir map; calls that may be answered late have no timeout",
        "a call is GenServer.call/3; a timer is Process.send_after/3 and Process.cancel_timer/1",
        "the open loop of hog is started by Process.send_after/4 at whole milliseconds of the runtime's clock",
        "restart: Supervisor with max_restarts that are never passed; nothing of it is logged meanwhile",
        "servers are :gen_tcp in passive mode, with ten acceptors and a process for each connection; a socket's buffer is the runtime's default of 1460 bytes, as in 2015, or 64 KiB in the variant buffer-64k",
        "async-ack: blocks that wait are counted with :atomics, and a reader that is more than 100 ahead sleeps a millisecond at a time",
        "elements are measured on the last list that each process received, after the clock"
      ]
    }
  end

  # A run that crashes, for example for lack of memory or processes, is answered with an error.
  defp in_fresh_process(fun) do
    {pid, monitor} =
      spawn_monitor(fn ->
        exit(
          try do
            {:sample, fun.()}
          catch
            kind, reason -> {:failed, kind, reason}
          end
        )
      end)

    receive do
      {:DOWN, ^monitor, :process, ^pid, {:sample, sample}} ->
        sample

      {:DOWN, ^monitor, :process, ^pid, reason} ->
        refuse("the run has failed: #{inspect(reason, limit: 8, width: :infinity)}")
    end
  end

  defp run(:"call-vs-send", %{mode: :local, n: n}), do: Calls.local(n)
  defp run(:"call-vs-send", %{mode: :remote, n: n, variant: :off_heap}), do: Calls.remote(n)
  defp run(:"tail-call", %{n: n, reps: reps}), do: Calls.tail_call(n, reps)
  defp run(:"spawn-chain", %{n: n, reps: reps}), do: Processes.spawn_chain(n, reps)
  defp run(:"serial-spawn", %{m: m, total: total}), do: Processes.serial_spawn(m, total)
  defp run(:"fork-join", %{n: n, variant: :ending}), do: Processes.fork_join(n)
  defp run(:skynet, %{leaves: leaves}), do: Processes.skynet(leaves)
  defp run(:exchange, params), do: Exchange.run(Map.put(params, :s, nil))
  defp run(:"message-size", params), do: Exchange.run(params)
  defp run(:bandwidth, params), do: Exchange.run(params)
  defp run(:"ping-pong", %{n: n}), do: Messages.ping_pong(n)
  defp run(:throughput, %{n: n, variant: :off_heap}), do: Messages.fan_in(1, n)

  defp run(:"fan-in", %{senders: senders, n: n, variant: :off_heap}),
    do: Messages.fan_in(senders, n)

  defp run(:"thread-ring", %{processes: processes, n: n}), do: Messages.thread_ring(processes, n)
  defp run(:"fan-out", %{processes: processes, n: n}), do: Messages.fan_out(processes, n)
  defp run(:call, %{n: n, variant: :server}), do: Asking.call(0, n)
  defp run(:"call-deep", %{waiting: waiting, n: n}), do: Asking.call(waiting, n)
  defp run(:"reply-deep", %{waiting: waiting, n: n}), do: Asking.reply(waiting, n)
  defp run(:selective, %{k: k, reps: reps}), do: Asking.selective(k, reps)
  defp run(:timers, %{window: window, n: n, seed: seed}), do: Timers.run(window, n, seed)
  defp run(:"timer-expiry", params), do: Timers.expiry(params)
  defp run(:"idle-memory", %{n: n}), do: Idle.idle_memory(n)
  defp run(:hog, %{loop: loop, hogs: hogs, ms: ms}), do: Hog.run(loop, hogs, ms)
  defp run(:"monitor-churn", %{n: n}), do: Exits.monitor_churn(n)
  defp run(:"link-churn", %{n: n}), do: Exits.link_churn(n)
  defp run(:"exit-cascade", %{n: n, reps: reps}), do: Exits.exit_cascade(n, reps)
  defp run(:restart, %{n: n, reps: reps}), do: Restarts.restart(n, reps)
  defp run(:signals, params), do: Signals.run(params)
  defp run(:banking, %{accounts: accounts, n: n, reps: reps}), do: Banking.run(accounts, n, reps)
  defp run(:"bounded-buffer", params), do: BoundedBuffer.run(params)
  defp run(:chameneos, %{creatures: creatures, n: n}), do: Chameneos.run(creatures, n)

  defp run(:dictionary, %{workers: workers, writes: writes, n: n}),
    do: Dictionary.run(workers, writes, n)

  defp run(:"logistic-map", %{series: series, terms: terms, reps: reps}),
    do: LogisticMap.run(series, terms, reps)

  defp run(:philosophers, %{philosophers: philosophers, n: n}), do: Philosophers.run(philosophers, n)
  defp run(:sieve, %{n: n, local: local, reps: reps}), do: Sieve.run(n, local, reps)
  defp run(:big, %{processes: processes, n: n}), do: Big.run(processes, n)
  defp run(:spread, %{processes: processes, n: n, us: us}), do: Spread.run(processes, n, us)
end
