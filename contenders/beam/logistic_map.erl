%% Series of the logistic map, each with a worker that waits for its computer: logistic-map.
%%
%% A worker's queue is off_heap, as the runtime's documentation advises for a queue that may become
%% long: with a queue of 25 000 messages on the heap, which each garbage collection has to visit, a
%% term takes five times as long.
-module(logistic_map).
-export([run/3]).

run(Series, Terms, Reps) -> savina:repeat(Reps, fun() -> series(Series, Terms) end).

series(Series, Terms) ->
    Start = erlang:monotonic_time(nanosecond),
    Pairs = [pair(I) || I <- lists:seq(0, Series - 1)],
    Workers = [Worker || {Worker, _} <- Pairs],
    Ordered = in_turn(Terms, Workers, 0),
    lists:foreach(fun(Worker) -> Worker ! {get, self()} end, Workers),
    Results = [receive {term, Worker, X, Sent, Received} -> {X, Sent, Received} end || Worker <- Workers],
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Computed = [savina:call(Computer, report) || {_, Computer} <- Pairs],
    #{elapsed_ns => Elapsed, ops => Series * Terms,
      sent => Ordered + lists:sum(Computed) + lists:sum([Sent || {_, Sent, _} <- Results]),
      received => lists:sum(Computed) + lists:sum([Received || {_, _, Received} <- Results]),
      sum => lists:sum([trunc(X * 1.0e9) || {X, _, _} <- Results])}.

pair(I) ->
    Computer = spawn_link(fun() -> computer((1384 + I) / 400, 0) end),
    Options = [link, {message_queue_data, off_heap}],
    {spawn_opt(fun() -> worker((I + 1) / 400, Computer, 0, 0) end, Options), Computer}.

in_turn(0, _, Sent) -> Sent;
in_turn(Terms, Workers, Sent) -> in_turn(Terms - 1, Workers, next_of_all(Workers, Sent)).

next_of_all([], Sent) -> Sent;
next_of_all([Worker | Others], Sent) ->
    Worker ! next,
    next_of_all(Others, Sent + 1).

worker(X, Computer, Sent, Received) ->
    receive
        next ->
            worker(savina:call(Computer, {compute, X}), Computer, Sent + 1, Received + 2);
        {get, Root} ->
            Root ! {term, self(), X, Sent, Received}
    end.

computer(Rate, Computed) ->
    receive
        {call, From, {compute, X}} ->
            savina:reply(From, Rate * X * (1.0 - X)),
            computer(Rate, Computed + 1);
        {call, From, report} ->
            savina:reply(From, Computed)
    end.
