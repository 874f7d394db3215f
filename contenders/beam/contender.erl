%% BEAM contender of the lab: Erlang processes, in idiomatic Erlang/OTP code.
%%
%%   erlc -o DIR contenders/beam/*.erl
%%   erl +P 4000000 -noshell -pa DIR -s contender main
%%   {"op":"run","experiment":"ping-pong","params":{"n":100000}}
%%
%% The lab must pass +P 4000000: the default limit of 262144 processes is too low for fork-join and
%% skynet with a million. A run that would exceed the limit is answered with an error. Schedulers,
%% heaps and garbage collection have their default settings.
%%
%% This module reads requests and writes answers; params.erl validates the parameters; the
%% experiments are in calls.erl, messages.erl, exchange.erl, processes.erl, asking.erl, idle.erl,
%% timers.erl, hog.erl, exits.erl, restarts.erl, signals.erl and nodes.erl; each Savina program has
%% a module of its name. Each run has a fresh process, so that the heap of the previous run has no
%% effect.
-module(contender).
-export([main/0]).

-define(LINE_MAX, 1048576).

main() ->
    %% Log to standard error: standard output carries the answers.
    ok = logger:remove_handler(default),
    ok = logger:add_handler(default, logger_std_h, #{config => #{type => standard_error}}),
    ok = io:setopts(standard_io, [binary, {encoding, latin1}]),
    serve().

serve() ->
    case io:get_line(standard_io, "") of
        Line when is_binary(Line) ->
            case answer(Line) of
                quit -> halt(0);
                Answer -> io:put_chars(standard_io, [mini_json:encode(Answer), $\n])
            end,
            serve();
        _EndOrError ->
            halt(0)
    end.

answer(Line) when byte_size(Line) > ?LINE_MAX ->
    refuse(["the line is longer than ", integer_to_list(?LINE_MAX), " bytes"]);
answer(Line) ->
    try request(mini_json:decode(without_newline(Line)))
    catch
        throw:{bad_json, What} -> refuse(["not a line of JSON: ", What]);
        throw:{bad_request, What} -> refuse(What)
    end.

without_newline(Line) ->
    case byte_size(Line) - 1 of
        Length when Length >= 0, binary_part(Line, Length, 1) =:= <<"\n">> -> binary_part(Line, 0, Length);
        _ -> Line
    end.

refuse(What) -> #{error => unicode:characters_to_binary(What)}.

request(#{<<"op">> := <<"hello">>}) -> hello();
request(#{<<"op">> := <<"run">>, <<"experiment">> := <<"dist-", _/binary>>} = Request) ->
    {Experiment, Params} = params:check(Request, nodes:near()),
    in_fresh_process(fun() -> nodes:send(Experiment, Params) end);
request(#{<<"op">> := <<"run">>} = Request) ->
    {Experiment, Params} = params:check(Request),
    in_fresh_process(fun() -> run(Experiment, Params) end);
request(#{<<"op">> := <<"serve">>} = Request) ->
    {Experiment, Params} = params:check(Request, nodes:far()),
    nodes:take(Experiment, Params);
request(#{<<"op">> := <<"stop">>}) -> nodes:stop();
request(#{<<"op">> := <<"quit">>}) -> quit;
request(#{<<"op">> := _}) ->
    refuse("unknown op; this contender knows \"hello\", \"run\", \"serve\", \"stop\" and \"quit\"");
request(_) -> refuse("a request is a JSON object with an \"op\": \"hello\", \"run\" or \"quit\"").

hello() ->
    Erts = erlang:system_info(version),
    Flavor = atom_to_list(erlang:system_info(emu_flavor)),
    #{
        name => <<"beam">>,
        version => iolist_to_binary(["Erlang/OTP ", release(), ", erts ", Erts, ", ", Flavor]),
        os_pid => list_to_integer(os:getpid()),
        experiments => params:experiments() ++ nodes:experiments(),
        variants => #{
            'call-vs-send' => [<<"off_heap">>, <<"on_heap">>],
            throughput => [<<"off_heap">>, <<"on_heap">>],
            'fan-in' => [<<"off_heap">>, <<"on_heap">>],
            'fork-join' => [<<"ending">>, <<"alive">>],
            call => [<<"server">>, <<"process">>],
            signals => [<<"off_heap">>, <<"on_heap">>],
            'dist-send' => nodes:fars(),
            'dist-round-trip' => nodes:fars(),
            'dist-call' => nodes:fars()
        },
        notes => notes()
    }.

%% The release with its patches, such as 27.3.4.1, from the file that comes with it.
release() ->
    Release = erlang:system_info(otp_release),
    case file:read_file(filename:join([code:root_dir(), "releases", Release, "OTP_VERSION"])) of
        {ok, Version} -> string:trim(Version);
        {error, _} -> Release
    end.

notes() ->
    Schedulers = integer_to_list(erlang:system_info(schedulers_online)),
    Limit = integer_to_list(erlang:system_info(process_limit)),
    [
        iolist_to_binary([Schedulers, " schedulers, at most ", Limit, " processes; all else as the runtime has it"]),
        <<"every experiment runs in a fresh process, spawned with no options">>,
        <<"signals: the receiver is spawned with message_queue_data off_heap, as OTP's suite does, or on_heap, the runtime's default">>,
        <<"call-vs-send, throughput, fan-in: the receiver's message_queue_data is off_heap, as OTP advises for a process that receives many messages, or on_heap, the runtime's default; in fork-join it is off_heap, and in the variant alive the children wait until all are spawned">>,
        <<"work is done in small integers: the product is below 2^46">>,
        <<"Savina programs: plain processes, all linked; a call waits by selective receive for a fresh reference, without a monitor and a timeout (elixir has a GenServer there); queues of 25 000 messages, in logistic-map and sieve, are off_heap">>,
        <<"a call is gen_server:call/3, or in the variant process a message to a receive loop under a monitor and a timeout; a timer is erlang:send_after/3 and erlang:cancel_timer/1">>,
        <<"the open loop of hog is started by erlang:send_after/4 at whole milliseconds of the runtime's clock">>,
        <<"restart: OTP's supervisor with an intensity that is never passed; supervisor, gen_server and proc_lib log nothing meanwhile">>,
        <<"with two nodes: the node is made one by net_kernel:start/1 when it is first asked, and visible, as by default; dist-call is gen_server:call/3 of {Name, Node}">>,
        <<"elements are measured on the last list that each process received, after the clock">>
    ].

%% A run that crashes, for example for lack of memory or processes, is answered with an error.
in_fresh_process(Fun) ->
    {Pid, Monitor} = spawn_monitor(fun() ->
        exit(try {sample, Fun()} catch Class:Reason -> {failed, Class, Reason} end)
    end),
    receive
        {'DOWN', Monitor, process, Pid, {sample, Sample}} -> Sample;
        {'DOWN', Monitor, process, Pid, Reason} ->
            refuse(["the run has failed: ", io_lib:format("~0tP", [Reason, 8])])
    end.

run('call-vs-send', #{mode := local, n := N}) -> calls:local(N);
run('call-vs-send', #{mode := remote, n := N, variant := Queue}) -> calls:remote(N, Queue);
run('tail-call', #{n := N, reps := Reps}) -> calls:tail_call(N, Reps);
run('spawn-chain', #{n := N, reps := Reps}) -> processes:spawn_chain(N, Reps);
run('serial-spawn', #{m := M, total := Total}) -> processes:serial_spawn(M, Total);
run('fork-join', #{n := N, variant := Variant}) -> processes:fork_join(N, Variant);
run('skynet', #{leaves := Leaves}) -> processes:skynet(Leaves);
run('exchange', Params) -> exchange:run(Params#{s => none});
run('message-size', Params) -> exchange:run(Params);
run('bandwidth', Params) -> exchange:run(Params);
run('ping-pong', #{n := N}) -> messages:ping_pong(N);
run('throughput', #{n := N, variant := Queue}) -> messages:fan_in(1, N, Queue);
run('fan-in', #{senders := Senders, n := N, variant := Queue}) ->
    messages:fan_in(Senders, N, Queue);
run('thread-ring', #{processes := Processes, n := N}) -> messages:thread_ring(Processes, N);
run('fan-out', #{processes := Processes, n := N}) -> messages:fan_out(Processes, N);
run('call', #{n := N, variant := server}) -> asking:call(0, N);
run('call', #{n := N, variant := process}) -> asking:call_process(N);
run('call-deep', #{waiting := Waiting, n := N}) -> asking:call(Waiting, N);
run('reply-deep', #{waiting := Waiting, n := N}) -> asking:reply(Waiting, N);
run('selective', #{k := K, reps := Reps}) -> asking:selective(K, Reps);
run('timers', #{window := Window, n := N, seed := Seed}) -> timers:run(Window, N, Seed);
run('timer-expiry', #{n := N, after_ms := After, spread_ms := Spread, seed := Seed}) ->
    timers:expiry(N, After, Spread, Seed);
run('idle-memory', #{n := N}) -> idle:idle_memory(N);
run('hog', #{loop := Loop, hogs := Hogs, ms := Ms}) -> hog:run(Loop, Hogs, Ms);
run('monitor-churn', #{n := N}) -> exits:monitor_churn(N);
run('link-churn', #{n := N}) -> exits:link_churn(N);
run('exit-cascade', #{n := N, reps := Reps}) -> exits:exit_cascade(N, Reps);
run('restart', #{n := N, reps := Reps}) -> restarts:restart(N, Reps);
run('signals', Params) -> signals:run(Params);
run('banking', #{accounts := Accounts, n := N, reps := Reps}) -> banking:run(Accounts, N, Reps);
run('bounded-buffer', Params) -> bounded_buffer:run(Params);
run('chameneos', #{creatures := Creatures, n := N}) -> chameneos:run(Creatures, N);
run('dictionary', #{workers := Workers, writes := Writes, n := N}) ->
    dictionary:run(Workers, Writes, N);
run('logistic-map', #{series := Series, terms := Terms, reps := Reps}) ->
    logistic_map:run(Series, Terms, Reps);
run('philosophers', #{philosophers := Philosophers, n := N}) -> philosophers:run(Philosophers, N);
run('sieve', #{n := N, local := Local, reps := Reps}) -> sieve:run(N, Local, Reps);
run('big', #{processes := Processes, n := N}) -> big:run(Processes, N);
run('spread', #{processes := Processes, n := N, us := Us}) -> spread:run(Processes, N, Us).
