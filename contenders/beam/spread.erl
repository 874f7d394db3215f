%% Processes that alternately call one server and compute: spread.
-module(spread).
-export([run/3]).

%% Steps of work that are timed for the calibration, and number of times.
-define(STEPS, 200000).
-define(TIMES, 10).

run(Processes, N, Us) ->
    Shortest = lists:min([calibrate() || _ <- lists:seq(1, ?TIMES)]),
    Steps = max(1, (?STEPS * Us * 1000 + Shortest div 2) div Shortest),
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Server = spawn_link(fun() -> echo(0) end),
    lists:foreach(
        fun(_) -> spawn_link(fun() -> worker(N, 1, Steps, Server, Root, 0, 0) end) end,
        lists:seq(1, Processes)
    ),
    {Sent, Received, Sink} = collect(Processes, 0, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Served = savina:call(Server, report),
    #{elapsed_ns => Elapsed, ops => Processes * N, sent => Sent + Served, received => Received + Served,
      steps => Steps, calibration_ns => Shortest, sink => Sink}.

%% Duration of the steps; at least 1, because it is a divisor.
calibrate() ->
    Start = erlang:monotonic_time(nanosecond),
    _ = exchange:work(?STEPS, 1),
    max(1, erlang:monotonic_time(nanosecond) - Start).

worker(0, X, _, _, Root, Sent, Received) -> Root ! {worked, X, Sent, Received};
worker(N, X, Steps, Server, Root, Sent, Received) ->
    Answered = case savina:call(Server, {echo, X}) of X -> 1; _ -> 0 end,
    worker(N - 1, exchange:work(Steps, X), Steps, Server, Root, Sent + 1, Received + Answered).

collect(0, Sent, Received, Sink) -> {Sent, Received, Sink};
collect(Left, Sent, Received, Sink) ->
    receive {worked, X, S, R} -> collect(Left - 1, Sent + S, Received + R, Sink + X) end.

echo(Served) ->
    receive
        {call, From, {echo, What}} ->
            savina:reply(From, What),
            echo(Served + 1);
        {call, From, report} ->
            savina:reply(From, Served)
    end.
