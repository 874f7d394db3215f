%% What only waits, and timers: timers and idle-memory.
-module(waiting).
-export([timers/2, idle_memory/1]).

%% How far off the timers are that are cancelled, and the others, which outlive the run; in ms.
-define(SOON, 5000).
-define(LATE, 3600000).

%% So many processes at most are spawned before the root looks who has come to wait.
-define(AT_ONCE, 1000).

timers(Waiting, N) ->
    Others = [erlang:send_after(?LATE, self(), {timeout, I}) || I <- lists:seq(1, Waiting)],
    Start = erlang:monotonic_time(nanosecond),
    Cancelled = pairs(N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Alive = [Timer || Timer <- Others, is_integer(erlang:cancel_timer(Timer))],
    #{elapsed_ns => Elapsed, ops => N, sent => N, received => Cancelled, waiting => length(Alive)}.

pairs(0, Cancelled) -> Cancelled;
pairs(N, Cancelled) ->
    Timer = erlang:send_after(?SOON, self(), {timeout, N}),
    case erlang:cancel_timer(Timer) of
        Left when is_integer(Left) -> pairs(N - 1, Cancelled + 1);
        false -> pairs(N - 1, Cancelled)
    end.

%% The processes stay when the root has ended: nobody sends to them.
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

%% Tells that it is there and waits.
wait(Root) ->
    Root ! ready,
    receive stop -> ok end.
