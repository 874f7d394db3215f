%% Calls and selective receives, also with many queued messages: call, call-deep, reply-deep and
%% selective.
-module(asking).
-export([call/2, call_process/1, reply/2, selective/2]).

%% Timeout of a call in ms: the default of gen_server:call/2.
-define(CALL_TIMEOUT, 5000).

%% A call whose count has these bits clear is timed: one in 256.
-define(TRIP_BITS, 255).

%% Number of receives that are timed together.
-define(BATCH, 100).

%% call-deep; call is call-deep with no queued messages.
call(Waiting, N) ->
    lists:foreach(fun(I) -> self() ! {waiting, I} end, lists:seq(1, Waiting)),
    %% The first collection moves the queued messages to the heap. That cost is not part of the
    %% calls.
    erlang:garbage_collect(),
    Start = erlang:monotonic_time(nanosecond),
    {ok, Server} = gen_server:start_link(echo_server, [], []),
    {Sent, Received, Times} = calls(N, Server, 0, 0, []),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Served = gen_server:call(Server, count),
    ok = gen_server:stop(Server),
    (delays:figures(Times))#{elapsed_ns => Elapsed, ops => N, sent => Sent + Served,
      received => Received + Served, waiting => left(0)}.

calls(0, _, Sent, Received, Times) -> {Sent, Received, Times};
calls(N, Server, Sent, Received, Times) when N band ?TRIP_BITS =:= 0 ->
    Start = delays:now(),
    Answered = answered(N, Server),
    calls(N - 1, Server, Sent + 1, Received + Answered, [delays:now() - Start | Times]);
calls(N, Server, Sent, Received, Times) ->
    calls(N - 1, Server, Sent + 1, Received + answered(N, Server), Times).

answered(N, Server) ->
    case gen_server:call(Server, {echo, N}, ?CALL_TIMEOUT) of
        N -> 1;
        _ -> 0
    end.

%% call in the variant process: a call by hand to a process with a receive loop.
call_process(N) ->
    Start = erlang:monotonic_time(nanosecond),
    Called = spawn_link(fun() -> serve(0) end),
    {Sent, Received, Times} = calls_by_hand(N, Called, 0, 0, []),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Served = by_hand(Called, count),
    (delays:figures(Times))#{elapsed_ns => Elapsed, ops => N, sent => Sent + Served,
      received => Received + Served}.

calls_by_hand(0, _, Sent, Received, Times) -> {Sent, Received, Times};
calls_by_hand(N, Called, Sent, Received, Times) when N band ?TRIP_BITS =:= 0 ->
    Start = delays:now(),
    N = by_hand(Called, N),
    calls_by_hand(N - 1, Called, Sent + 1, Received + 1, [delays:now() - Start | Times]);
calls_by_hand(N, Called, Sent, Received, Times) ->
    N = by_hand(Called, N),
    calls_by_hand(N - 1, Called, Sent + 1, Received + 1, Times).

%% The monitor reports a called process that ends; its reference identifies the reply.
by_hand(Called, What) ->
    Monitor = monitor(process, Called),
    Called ! {self(), Monitor, What},
    receive
        {Monitor, Reply} ->
            demonitor(Monitor, [flush]),
            Reply;
        {'DOWN', Monitor, process, Called, Reason} ->
            exit(Reason)
    after ?CALL_TIMEOUT ->
        demonitor(Monitor, [flush]),
        exit(timeout)
    end.

serve(Served) ->
    receive
        {From, Monitor, count} ->
            From ! {Monitor, Served};
        {From, Monitor, What} ->
            From ! {Monitor, What},
            serve(Served + 1)
    end.

%% reply-deep: requests to a receive loop, and a receive by pattern for each reply. The compiler
%% recognises that the receive waits for the fresh reference, and the runtime skips what was queued
%% before.
reply(Waiting, N) ->
    lists:foreach(fun(I) -> self() ! {waiting, I} end, lists:seq(1, Waiting)),
    %% As in call/2.
    erlang:garbage_collect(),
    Start = erlang:monotonic_time(nanosecond),
    Called = spawn_link(fun() -> serve(0) end),
    {Sent, Received} = replies(N, Called, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Served = by_hand(Called, count),
    #{elapsed_ns => Elapsed, ops => N, sent => Sent + Served, received => Received + Served,
      waiting => left(0)}.

replies(0, _, Sent, Received) -> {Sent, Received};
replies(N, Called, Sent, Received) ->
    Request = make_ref(),
    Called ! {self(), Request, N},
    receive
        {Request, N} -> replies(N - 1, Called, Sent + 1, Received + 1)
    end.

%% Empties the mailbox. Returns the number of queued messages.
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
