%% Round trips while other processes compute without pause: hog.
%%
%% In an open loop, timers of the runtime start the trips at whole milliseconds of its clock; the
%% latency of a trip counts from that millisecond. Latencies are stored in an atomics array outside
%% the process heaps, so that storing them causes no garbage collection.
-module(hog).
-export([run/3]).

%% Time in ms for trips in progress to complete after the last start, and time in ms from setting
%% the first timer to its expiry.
-define(COMPLETION_TIMEOUT, 2000).
-define(LEAD, 5).

%% Number of steps between two checks of the stop flag: a few microseconds.
-define(LOOK_EVERY, 1000).

%% Capacity for the latencies of a closed loop; the loop ends when it is reached.
-define(ROOM, 1000000).

run(Loop, Hogs, Ms) ->
    Times = atomics:new(case Loop of open -> Ms; closed -> ?ROOM end, []),
    Late = atomics:new(Ms, []),
    Stop = atomics:new(1, []),
    Root = self(),
    {Partner, _} = spawn_monitor(fun answer/0),
    {First, _} = spawn_monitor(fun() -> first(Loop, Partner, Root, Times, Late, Ms) end),
    lists:foreach(fun(_) -> spawn_monitor(fun() -> compute(Stop, 1) end) end, lists:seq(1, Hogs)),
    Begin = erlang:monotonic_time(millisecond) + ?LEAD,
    start(Loop, First, Begin, Ms),
    receive all_back -> ok after ?LEAD + Ms + ?COMPLETION_TIMEOUT -> ok end,
    Elapsed = erlang:monotonic_time(nanosecond) - ms_to_ns(Begin),
    atomics:put(Stop, 1, 1),
    First ! finish,
    {Started, Back} = receive {counted, S, B} -> {S, B} end,
    Partner ! finish,
    ended(Hogs + 2),
    receive all_back -> ok after 0 -> ok end,
    #{p50_ns := LateP50, p99_ns := LateP99} =
        times(Late, case Loop of open when Back =:= Ms -> Ms; _ -> 0 end),
    maps:merge(
        times(Times, Back),
        #{elapsed_ns => Elapsed, ops => Back, sent => Started, received => Back,
          starved => case Back of Started -> 0; _ -> 1 end,
          late_p50_ns => LateP50, late_p99_ns => LateP99}
    ).

ended(0) -> ok;
ended(Left) -> receive {'DOWN', _, process, _, normal} -> ended(Left - 1) end.

ms_to_ns(Ms) -> Ms * 1000000.

start(open, First, Begin, Ms) ->
    lists:foreach(
        fun(Due) -> erlang:send_after(Due, First, {start, ms_to_ns(Due)}, [{abs, true}]) end,
        lists:seq(Begin, Begin + Ms - 1)
    );
start(closed, First, Begin, _) ->
    erlang:send_after(Begin, First, {start, ms_to_ns(Begin)}, [{abs, true}]).

%% An open loop is complete when Ms trips have returned. Its timers start exactly Ms trips, so the
%% starts are not counted.
first(open, Partner, Root, Times, Late, Ms) ->
    open(Partner, Root, Times, Late, Ms, 0, 0);
first(closed, Partner, Root, Times, _, Ms) ->
    receive
        {start, Begin} ->
            Partner ! {trip, self(), erlang:monotonic_time(nanosecond)},
            closed(Partner, Root, Times, Begin + ms_to_ns(Ms), 1, 0);
        finish ->
            Root ! {counted, 1, 0}
    end.

open(_, Root, _, _, Ms, _, Ms) ->
    Root ! all_back,
    receive finish -> Root ! {counted, Ms, Ms} end;
open(Partner, Root, Times, Late, Ms, Started, Back) ->
    receive
        {start, Due} ->
            atomics:put(Late, Started + 1, erlang:monotonic_time(nanosecond) - Due),
            Partner ! {trip, self(), Due},
            open(Partner, Root, Times, Late, Ms, Started + 1, Back);
        {back, Due} ->
            atomics:put(Times, Back + 1, erlang:monotonic_time(nanosecond) - Due),
            open(Partner, Root, Times, Late, Ms, Started, Back + 1);
        finish ->
            Root ! {counted, Ms, Back}
    end.

closed(Partner, Root, Times, Until, Started, Back) ->
    receive
        {back, Start} ->
            Now = erlang:monotonic_time(nanosecond),
            atomics:put(Times, Started, Now - Start),
            case Now < Until andalso Started < ?ROOM of
                true ->
                    Partner ! {trip, self(), Now},
                    closed(Partner, Root, Times, Until, Started + 1, Back + 1);
                false ->
                    Root ! all_back,
                    receive finish -> Root ! {counted, Started, Back + 1} end
            end;
        finish ->
            Root ! {counted, Started, Back}
    end.

%% Sends each message back.
answer() ->
    receive
        {trip, From, Start} ->
            From ! {back, Start},
            answer();
        finish ->
            ok
    end.

compute(Stop, X) ->
    case atomics:get(Stop, 1) of
        0 -> compute(Stop, steps(?LOOK_EVERY, X));
        _ -> ok
    end.

steps(0, X) -> X;
steps(Left, X) -> steps(Left - 1, (X * 20077 + 12345) band 16#7fffffff).

times(Times, Back) -> delays:percentiles([atomics:get(Times, I) || I <- lists:seq(1, Back)]).
