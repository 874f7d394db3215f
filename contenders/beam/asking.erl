%% Calls, and mailboxes in which much waits: call, call-deep and selective.
-module(asking).
-export([call/2, selective/2]).

%% How long a call waits, in ms: the default of gen_server:call.
-define(PATIENCE, 5000).

%% How many receives share one clock.
-define(BATCH, 100).

%% call-deep, and with nothing that waits call.
call(Waiting, N) ->
    lists:foreach(fun(I) -> self() ! {waiting, I} end, lists:seq(1, Waiting)),
    %% Taking in what waits is the first collection's work; it is none of the calls'.
    erlang:garbage_collect(),
    Start = erlang:monotonic_time(nanosecond),
    {ok, Server} = gen_server:start_link(echo_server, [], []),
    {Sent, Received} = calls(N, Server, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Served = gen_server:call(Server, count),
    ok = gen_server:stop(Server),
    #{elapsed_ns => Elapsed, ops => N, sent => Sent + Served, received => Received + Served,
      waiting => left(0)}.

calls(0, _, Sent, Received) -> {Sent, Received};
calls(N, Server, Sent, Received) ->
    case gen_server:call(Server, {echo, N}, ?PATIENCE) of
        N -> calls(N - 1, Server, Sent + 1, Received + 1);
        _ -> calls(N - 1, Server, Sent + 1, Received)
    end.

%% How many messages wait.
left(Count) ->
    receive {waiting, _} -> left(Count + 1) after 0 -> Count end.

selective(K, Reps) ->
    lists:foreach(fun(I) -> self() ! {waiting, I} end, lists:seq(1, K)),
    {Elapsed, Received} = batches(Reps, 0, 0),
    #{elapsed_ns => Elapsed, ops => Reps, sent => Reps, received => Received, waiting => left(0)}.

batches(0, Elapsed, Received) -> {Elapsed, Received};
batches(Left, Elapsed, Received) ->
    Batch = min(Left, ?BATCH),
    lists:foreach(fun(I) -> self() ! {wanted, I} end, lists:seq(1, Batch)),
    Start = erlang:monotonic_time(nanosecond),
    Taken = take(Batch, 0),
    End = erlang:monotonic_time(nanosecond),
    batches(Left - Batch, Elapsed + End - Start, Received + Taken).

take(0, Taken) -> Taken;
take(Left, Taken) ->
    receive {wanted, _} -> take(Left - 1, Taken + 1) end.
