%% Timers and idle processes: timers and idle-memory.
-module(waiting).
-export([timers/2, idle_memory/1]).

%% Time in ms of the timers that are cancelled while the clock runs, and of the others, which do not
%% expire during the run.
-define(SOON, 5000).
-define(LATE, 3600000).

%% Maximum number of processes spawned before the root receives their ready messages.
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
