%% Reads and writes of a map that one process owns: dictionary.
-module(dictionary).
-export([run/3]).

-define(KEYS, 65536).

run(Workers, Writes, N) ->
    Root = self(),
    Dictionary = spawn_link(fun() ->
        serve(maps:from_list([{Key, Key} || Key <- lists:seq(0, ?KEYS - 1)]), 0, 0)
    end),
    %% The answer shows that the map is built.
    ready = savina:call(Dictionary, ready),
    Start = erlang:monotonic_time(nanosecond),
    lists:foreach(
        fun(I) -> spawn_link(fun() -> worker(N, savina:stream(I), Writes, Dictionary, Root, 0, 0) end) end,
        lists:seq(0, Workers - 1)
    ),
    {Sent, Received} = collect(Workers, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    {Served, Written} = savina:call(Dictionary, report),
    #{elapsed_ns => Elapsed, ops => Workers * N, sent => Sent + Served, received => Received + Served,
      writes => Written}.

worker(0, _, _, _, Root, Sent, Received) -> Root ! {worked, Sent, Received};
worker(N, X, Writes, Dictionary, Root, Sent, Received) ->
    ForKind = savina:next(X),
    ForKey = savina:next(ForKind),
    Key = savina:below(?KEYS, ForKey),
    case savina:below(100, ForKind) < Writes of
        true ->
            ForValue = savina:next(ForKey),
            Value = Key + ?KEYS * savina:below(1000, ForValue),
            Reply = savina:call(Dictionary, {write, Key, Value}),
            worker(N - 1, ForValue, Writes, Dictionary, Root, Sent + 1, Received + fits(Reply, Key));
        false ->
            Reply = savina:call(Dictionary, {read, Key}),
            worker(N - 1, ForKey, Writes, Dictionary, Root, Sent + 1, Received + fits(Reply, Key))
    end.

fits(Value, Key) when Value rem ?KEYS =:= Key -> 1;
fits(_, _) -> 0.

collect(0, Sent, Received) -> {Sent, Received};
collect(Left, Sent, Received) ->
    receive {worked, S, R} -> collect(Left - 1, Sent + S, Received + R) end.

serve(Map, Served, Written) ->
    receive
        {call, From, {read, Key}} ->
            savina:reply(From, maps:get(Key, Map)),
            serve(Map, Served + 1, Written);
        {call, From, {write, Key, Value}} ->
            savina:reply(From, Value),
            serve(Map#{Key => Value}, Served + 1, Written + 1);
        {call, From, ready} ->
            savina:reply(From, ready),
            serve(Map, Served, Written);
        {call, From, report} ->
            savina:reply(From, {Served, Written})
    end.
