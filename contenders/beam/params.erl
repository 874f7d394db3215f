%% Experiments, their parameters and the ranges of the parameters.
%%
%% contender.erl calls check/1 or check/2 for every run, outside every clock. An invalid request
%% throws {bad_request, Text}.
-module(params).
-export([check/1, check/2, experiments/0]).

-define(COUNT, 1000000000000).
-define(PROCESSES, 100000000).
-define(LENGTH, 1000000).
-define(WAITING, 10000000).
-define(RESTARTS, 1000000).
-define(CROWD, 100000).
-define(GROUP, 10000).
-define(OPERATIONS, 1000000000).
-define(EACH, 1000000).

%% {Name, Range} is a mandatory parameter, {Name, Range, Default} an optional one. Range is
%% {From, To} for an integer, or a list of words.
table() ->
    [
        {'call-vs-send', [{mode, [local, remote]}, {n, {0, ?COUNT}}, queue()]},
        {'tail-call', [{n, {0, ?COUNT}}, reps()]},
        {'spawn-chain', [{n, {1, ?COUNT}}, reps()]},
        {'exchange', exchange()},
        {'message-size', [{s, {0, ?LENGTH}} | exchange()]},
        {'bandwidth', [{s, {0, ?LENGTH}} | exchange()]},
        {'serial-spawn', [{m, {1, ?PROCESSES}}, {total, {1, ?COUNT}}]},
        {'ping-pong', [{n, {0, ?COUNT}}]},
        {'throughput', [{n, {0, ?COUNT}}, queue()]},
        {'fan-in', [{senders, {1, ?PROCESSES}}, {n, {0, ?COUNT}}, queue()]},
        {'thread-ring', [{processes, {1, ?PROCESSES}}, {n, {1, ?COUNT}}]},
        {'fork-join', [
            {n, {0, ?PROCESSES}}, {variant, [ending, alive], ending}
        ]},
        {'skynet', [{leaves, {1, ?PROCESSES}}]},
        {'fan-out', [{processes, {1, ?PROCESSES}}, {n, {0, ?COUNT}}]},
        {'call', [{n, {0, ?COUNT}}, {variant, [server, process], server}]},
        {'call-deep', [{waiting, {0, ?WAITING}}, {n, {0, ?COUNT}}]},
        {'reply-deep', [{waiting, {0, ?WAITING}}, {n, {0, ?COUNT}}]},
        {'selective', [{k, {0, ?WAITING}}, reps()]},
        {'timers', [{window, {1, ?WAITING}}, {n, {0, ?COUNT}}]},
        {'timer-expiry', [{n, {1, ?WAITING}}, {after_ms, {0, 600000}}, {spread_ms, {0, 600000}}]},
        {'idle-memory', [{n, {0, ?PROCESSES}}]},
        {'hog', [{loop, [open, closed]}, {hogs, {0, 1000}}, {ms, {1, 600000}}]},
        {'monitor-churn', [{n, {0, ?COUNT}}]},
        {'link-churn', [{n, {0, ?COUNT}}]},
        {'exit-cascade', [{n, {1, ?PROCESSES}}, reps()]},
        {'restart', [{n, {0, ?RESTARTS}}, reps()]},
        {'signals', [
            {mode, [send, 'receive']}, {senders, {1, 10000}}, {ms, {1, 600000}},
            {exit_percent, {0, 100}}, {s, {0, ?LENGTH}}, {switch, {0, 1}}, {rest_ms, {0, 600000}},
            {room, {1, 1000000000}}, {variant, [off_heap, on_heap], off_heap}
        ]},
        {'banking', [{accounts, {2, ?CROWD}}, {n, {0, ?OPERATIONS}}, reps()]},
        {'bounded-buffer', [
            {producers, {1, ?GROUP}}, {consumers, {1, ?GROUP}}, {capacity, {1, 1000000}},
            {cost, {0, 1000000}}, {n, {0, ?EACH}}
        ]},
        {'chameneos', [{creatures, {2, ?CROWD}}, {n, {0, ?OPERATIONS}}]},
        {'dictionary', [{workers, {1, ?GROUP}}, {writes, {0, 100}}, {n, {0, ?EACH}}]},
        {'logistic-map', [{series, {1, ?GROUP}}, {terms, {0, ?EACH}}, reps()]},
        {'philosophers', [{philosophers, {2, ?GROUP}}, {n, {0, ?EACH}}]},
        {'sieve', [{n, {2, 10000000}}, {local, {1, ?EACH}}, reps()]},
        {'big', [{processes, {1, ?CROWD}}, {n, {0, ?OPERATIONS}}]},
        {'spread', [{processes, {1, ?GROUP}}, {n, {0, ?EACH}}, {us, {1, 1000000}}]}
    ].

reps() -> {reps, {1, 1000000}, 1}.
queue() -> {variant, [off_heap, on_heap], off_heap}.
exchange() -> [{n, {0, ?COUNT}}, {pieces, {1, ?COUNT}}, {work, {0, ?COUNT}}, reps()].

experiments() -> [Experiment || {Experiment, _} <- table()].

%% Returns the experiment and a map of its parameters, complete and in range, and of the seed.
check(Request) -> check(Request, table()).

%% Same as check/1 for the experiments of another table, in which a range may also be the atom text.
check(#{<<"experiment">> := Name} = Request, Table) when is_binary(Name) ->
    Seed = maps:get(<<"seed">>, Request, 0),
    case Seed of
        _ when is_integer(Seed), Seed >= 0, Seed < 1 bsl 63 -> ok;
        _ -> wrong("\"seed\" must be a non-negative integer")
    end,
    case {[Entry || {Known, _} = Entry <- Table, atom_to_binary(Known) =:= Name], Request} of
        {[], _} ->
            Names = lists:join(", ", [atom_to_list(E) || {E, _} <- Table]),
            wrong(["unknown experiment ", shown(Name), "; this contender knows ", Names]);
        {[Entry], #{<<"params">> := Given}} when is_map(Given) -> read(Entry, Given, Seed);
        {_, #{<<"params">> := _}} -> wrong("\"params\" must be an object");
        {[Entry], _} -> read(Entry, #{}, Seed)
    end;
check(#{<<"experiment">> := _}, _) -> wrong("\"experiment\" must be a string");
check(_, _) -> wrong("the request has no \"experiment\"").

read({Experiment, Known}, Given, Seed) ->
    Names = [atom_to_binary(element(1, Param)) || Param <- Known],
    case maps:keys(Given) -- Names of
        [] -> ok;
        [Other | _] ->
            wrong(Experiment, ["unknown parameter ", shown(Other), "; it takes ", lists:join(", ", Names)])
    end,
    Params = maps:from_list([{element(1, Param), value(Experiment, Param, Given)} || Param <- Known]),
    whole(Experiment, Params),
    enough_processes(Experiment, processes(Experiment, Params)),
    {Experiment, Params#{seed => Seed}}.

value(Experiment, Param, Given) ->
    Name = element(1, Param),
    case {maps:find(atom_to_binary(Name), Given), Param} of
        {error, {_, _, Default}} -> Default;
        {error, {_, Range}} ->
            wrong(Experiment, [quoted(Name), " is missing; it is ", range(Range)]);
        {{ok, Value}, _} ->
            case within(Value, element(2, Param)) of
                {ok, Read} -> Read;
                error ->
                    Range = range(element(2, Param)),
                    wrong(Experiment, [quoted(Name), " must be ", Range, ", not ", shown(Value)])
            end
    end.

within(N, {From, To}) when is_integer(N), N >= From, N =< To -> {ok, N};
within(Word, Words) when is_binary(Word), is_list(Words) ->
    case [Known || Known <- Words, atom_to_binary(Known) =:= Word] of
        [Known] -> {ok, Known};
        [] -> error
    end;
within(Text, text) when is_binary(Text), Text =/= <<>>, byte_size(Text) =< 255 -> {ok, Text};
within(_, _) -> error.

%% Checks constraints that a range cannot express.
whole('serial-spawn', #{m := M, total := Total}) when M > Total ->
    wrong('serial-spawn', io_lib:format("m is ~b, more than the total of ~b", [M, Total]));
whole(Experiment, #{n := N, s := S, reps := Reps}) when 2 * N * S * Reps >= 1 bsl 63 ->
    wrong(Experiment, "2*n*s*reps elements are more than can be counted; lower one of them");
whole('bounded-buffer', #{producers := Producers, capacity := Capacity}) when Capacity =< Producers ->
    wrong('bounded-buffer', io_lib:format(
        "capacity is ~b; it must be greater than the ~b producers", [Capacity, Producers]
    ));
whole('skynet', #{leaves := Leaves}) ->
    case power_of_ten(Leaves) of
        true -> ok;
        false -> wrong(skynet, io_lib:format("leaves is ~b, not a power of ten", [Leaves]))
    end;
whole(_, _) -> ok.

power_of_ten(1) -> true;
power_of_ten(N) when N rem 10 =:= 0 -> power_of_ten(N div 10);
power_of_ten(_) -> false.

%% Maximum number of processes that are alive at the same time.
processes('serial-spawn', #{m := M}) -> 2 * M;
processes('fan-in', #{senders := Senders}) -> Senders;
processes('thread-ring', #{processes := Processes}) -> Processes;
processes('fork-join', #{n := N}) -> N;
processes('fan-out', #{processes := Processes}) -> Processes;
processes('idle-memory', #{n := N}) -> N;
processes('exit-cascade', #{n := N}) -> N;
processes('hog', #{hogs := Hogs}) -> Hogs + 2;
processes('signals', #{senders := Senders}) -> Senders + 2;
processes('skynet', #{leaves := Leaves}) -> Leaves + Leaves div 9 + 1;
processes('banking', #{accounts := Accounts}) -> Accounts;
processes('bounded-buffer', #{producers := Producers, consumers := Consumers}) ->
    Producers + Consumers + 1;
processes('chameneos', #{creatures := Creatures}) -> Creatures + 1;
processes('dictionary', #{workers := Workers}) -> Workers + 1;
processes('logistic-map', #{series := Series}) -> 2 * Series;
processes('philosophers', #{philosophers := Philosophers}) -> Philosophers + 1;
processes('sieve', #{n := N, local := Local}) -> N div (2 * Local) + 3;
processes(Experiment, #{processes := Processes}) when Experiment =:= big; Experiment =:= spread ->
    Processes + 1;
processes(_, _) -> 2.

enough_processes(Experiment, Processes) ->
    Room = erlang:system_info(process_limit) - erlang:system_info(process_count),
    case Processes > Room of
        false -> ok;
        true ->
            wrong(Experiment, io_lib:format(
                "it may take ~b processes and there is room for ~b; start erl with a larger +P",
                [Processes, Room]
            ))
    end.

range(text) -> "a text of 1 to 255 bytes";
range({From, To}) -> io_lib:format("an integer from ~b to ~b", [From, To]);
range(Words) -> lists:join(" or ", [[$", atom_to_list(Word), $"] || Word <- Words]).

quoted(Name) -> ["parameter \"", atom_to_list(Name), "\""].

%% The value as JSON, truncated to 60 characters.
shown(Value) ->
    Text = unicode:characters_to_list(iolist_to_binary(mini_json:encode(Value))),
    case length(Text) > 60 of
        false -> Text;
        true -> lists:sublist(Text, 60) ++ [16#2026]
    end.

wrong(Experiment, What) -> wrong([atom_to_list(Experiment), ": ", What]).
wrong(What) -> throw({bad_request, What}).
