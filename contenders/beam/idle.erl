%% Idle processes: idle-memory.
-module(idle).
-export([idle_memory/1]).

%% Maximum number of processes spawned before the root receives their ready messages.
-define(AT_ONCE, 1000).

%% The processes outlive the root: none of them receives a message.
idle_memory(N) ->
    Start = erlang:monotonic_time(nanosecond),
    Received = idle(N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N, sent => N, received => Received}.

idle(0, Received) -> Received;
idle(Left, Received) ->
    Root = self(),
    Share = min(Left, ?AT_ONCE),
    lists:foreach(fun(_) -> spawn(fun() -> wait(Root) end) end, lists:seq(1, Share)),
    lists:foreach(fun(_) -> receive ready -> ok end end, lists:seq(1, Share)),
    idle(Left - Share, Received + Share).

%% Reports to the root and waits.
wait(Root) ->
    Root ! ready,
    receive stop -> ok end.
