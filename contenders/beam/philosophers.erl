%% Philosophers that ask an arbiter for their forks: philosophers.
%%
%% The arbiter keeps the taken forks as the bits of an integer.
-module(philosophers).
-export([run/2]).

run(Philosophers, N) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Arbiter = spawn_link(fun() -> arbiter(0, 0) end),
    lists:foreach(
        fun(I) ->
            Forks = (1 bsl I) bor (1 bsl ((I + 1) rem Philosophers)),
            spawn_link(fun() -> philosopher(N, Forks, Arbiter, Root, 0, 0) end)
        end,
        lists:seq(0, Philosophers - 1)
    ),
    {Received, Denied} = collect(Philosophers, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Granted = savina:call(Arbiter, report),
    #{elapsed_ns => Elapsed, ops => Philosophers * N, sent => Granted, received => Received,
      denied => Denied}.

philosopher(0, _, _, Root, Eaten, Denied) -> Root ! {eaten, Eaten, Denied};
philosopher(N, Forks, Arbiter, Root, Eaten, Denied) ->
    case savina:call(Arbiter, {hungry, Forks}) of
        eat ->
            Arbiter ! {done, Forks},
            philosopher(N - 1, Forks, Arbiter, Root, Eaten + 1, Denied);
        denied ->
            philosopher(N, Forks, Arbiter, Root, Eaten, Denied + 1)
    end.

collect(0, Eaten, Denied) -> {Eaten, Denied};
collect(Left, Eaten, Denied) ->
    receive {eaten, E, D} -> collect(Left - 1, Eaten + E, Denied + D) end.

arbiter(Taken, Granted) ->
    receive
        {call, From, {hungry, Forks}} when Taken band Forks =:= 0 ->
            savina:reply(From, eat),
            arbiter(Taken bor Forks, Granted + 1);
        {call, From, {hungry, _}} ->
            savina:reply(From, denied),
            arbiter(Taken, Granted);
        {done, Forks} ->
            arbiter(Taken bxor Forks, Granted);
        {call, From, report} ->
            savina:reply(From, Granted)
    end.
