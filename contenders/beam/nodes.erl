%% Node in a cluster, near or far end: dist-send, dist-round-trip and dist-call.
%%
%% The far process is registered as lab; the near process is the process of the run. epmd is at
%% 127.0.0.1, port ERL_EPMD_PORT. The node listens on 127.0.0.1 only.
-module(nodes).
-export([experiments/0, fars/0, far/0, near/0, take/2, stop/0, send/2]).

%% A round trip whose number has these bits clear is timed: one in 256.
-define(TRIP_BITS, 255).

%% Timeout of a call in ms: the default of gen_server:call/2.
-define(CALL_TIMEOUT, 5000).

experiments() -> ['dist-send', 'dist-round-trip', 'dist-call'].

%% Variants of the far node that this contender supports as the near node, the BEAM first.
fars() -> [<<"to-beam">>, <<"to-purlin">>].

%% Parameters of either end, for params:check/2.
far() -> [{Experiment, [{cookie, text}]} || Experiment <- experiments()].
near() ->
    Common = [{n, {0, 1000000000000}}, {node, text}, {cookie, text}],
    [
        {'dist-send', Common},
        {'dist-round-trip', Common},
        {'dist-call', [{callers, {1, 10000}} | Common]}
    ].

%% Starts the far end. Returns the name of the node.
take(Experiment, #{cookie := Cookie}) ->
    case whereis(lab) of
        undefined ->
            ok = join(Cookie),
            case Experiment of
                'dist-send' -> register(lab, spawn(fun() -> taker(false) end));
                'dist-round-trip' -> register(lab, spawn(fun() -> taker(true) end));
                'dist-call' -> {ok, _} = gen_server:start({local, lab}, echo_server, [], [])
            end,
            #{address => atom_to_binary(node())};
        _ ->
            #{error => <<"the far node is there already; stop it first">>}
    end.

%% Stops the far end. Returns the number of messages that were received in order, or of calls.
stop() ->
    case whereis(lab) of
        undefined ->
            #{error => <<"there is no far node that could be stopped">>};
        Taker ->
            Monitor = monitor(process, Taker),
            Taker ! {stop, self()},
            receive
                {taken, Count} ->
                    %% The name is free once the process has ended.
                    receive {'DOWN', Monitor, process, _, _} -> #{received => Count} end;
                {'DOWN', Monitor, process, _, _} -> #{error => <<"the far process has ended">>}
            end
    end.

taker(Answers) ->
    receive
        {'begin', Near} ->
            Near ! {ready, self()},
            case Answers of
                true -> answer(Near, 0);
                false -> count(Near, 0)
            end;
        {stop, Root} -> Root ! {taken, 0}
    end.

count(Near, Count) ->
    receive
        {message, Number} when Number =:= Count + 1 -> count(Near, Number);
        {message, _} -> count(Near, Count);
        count -> Near ! {counted, Count}, count(Near, Count);
        {stop, Root} -> Root ! {taken, Count}
    end.

answer(Near, Count) ->
    receive
        {message, Number} = Message ->
            Near ! Message,
            answer(Near, if Number =:= Count + 1 -> Number; true -> Count end);
        count -> Near ! {counted, Count}, answer(Near, Count);
        {stop, Root} -> Root ! {taken, Count}
    end.

%% Runs the near end. Returns the sample.
send(Experiment, #{n := N, node := Name, cookie := Cookie} = Params) ->
    ok = join(Cookie),
    Node = binary_to_atom(Name),
    case net_kernel:connect_node(Node) of
        true ->
            case Experiment of
                'dist-send' -> one_way(N, far_process(Node));
                'dist-round-trip' -> round_trips(N, far_process(Node));
                'dist-call' -> calls(N, maps:get(callers, Params), {lab, Node})
            end;
        _ ->
            #{error => <<"there is no connection to ", Name/binary>>}
    end.

far_process(Node) ->
    {lab, Node} ! {'begin', self()},
    receive {ready, Pid} -> Pid end.

one_way(N, Far) ->
    Start = erlang:monotonic_time(nanosecond),
    send_all(1, N, Far),
    Far ! count,
    Received = receive {counted, Count} -> Count end,
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N, sent => N, received => Received}.

send_all(Number, N, _) when Number > N -> ok;
send_all(Number, N, Far) ->
    Far ! {message, Number},
    send_all(Number + 1, N, Far).

round_trips(N, Far) ->
    Start = erlang:monotonic_time(nanosecond),
    {Back, Times} = trips(1, N, Far, 0, []),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Far ! count,
    Received = receive {counted, Count} -> Count end,
    (delays:figures(Times))#{elapsed_ns => Elapsed, ops => N, sent => 2 * N, received => Received + Back}.

trips(Number, N, _, Back, Times) when Number > N -> {Back, Times};
trips(Number, N, Far, Back, Times) when Number band ?TRIP_BITS =:= 0 ->
    Start = delays:now(),
    Far ! {message, Number},
    receive {message, Number} -> trips(Number + 1, N, Far, Back + 1, [delays:now() - Start | Times]) end;
trips(Number, N, Far, Back, Times) ->
    Far ! {message, Number},
    receive {message, Number} -> trips(Number + 1, N, Far, Back + 1, Times) end.

%% Callers make N calls in all, each one after the other. A call that fails ends the run.
calls(N, Callers, Server) ->
    Root = self(),
    Share = fun(Caller) -> N div Callers + (if Caller =< N rem Callers -> 1; true -> 0 end) end,
    Pids = [spawn_link(fun() -> caller(Share(I), Server, Root) end) || I <- lists:seq(1, Callers)],
    lists:foreach(fun(Pid) -> receive {ready, Pid} -> ok end end, Pids),
    Start = erlang:monotonic_time(nanosecond),
    lists:foreach(fun(Pid) -> Pid ! go end, Pids),
    Done = [receive {done, Pid, Replies, Times} -> {Replies, Times} end || Pid <- Pids],
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Served = gen_server:call(Server, count),
    Replies = lists:sum([Count || {Count, _} <- Done]),
    (delays:figures(lists:append([Times || {_, Times} <- Done])))#{
        elapsed_ns => Elapsed, ops => N, sent => 2 * N, received => Served + Replies
    }.

caller(Share, Server, Root) ->
    Root ! {ready, self()},
    receive go -> ok end,
    {Replies, Times} = call(1, Share, Server, 0, []),
    Root ! {done, self(), Replies, Times}.

%% Every call is timed.
call(Number, Share, _, Replies, Times) when Number > Share -> {Replies, Times};
call(Number, Share, Server, Replies, Times) ->
    Start = delays:now(),
    Reply = gen_server:call(Server, {echo, Number}, ?CALL_TIMEOUT),
    Took = delays:now() - Start,
    Correct = case Reply of Number -> 1; _ -> 0 end,
    call(Number + 1, Share, Server, Replies + Correct, [Took | Times]).

%% Makes this runtime a distributed node unless it is one already, and sets the cookie.
join(Cookie) ->
    case is_alive() of
        true -> ok;
        false ->
            ok = application:set_env(kernel, inet_dist_use_interface, {127, 0, 0, 1}),
            Name = list_to_atom("beam" ++ os:getpid() ++ "@127.0.0.1"),
            {ok, _} = net_kernel:start([Name, longnames]),
            ok
    end,
    erlang:set_cookie(binary_to_atom(Cookie)),
    ok.
