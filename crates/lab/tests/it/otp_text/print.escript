#!/usr/bin/env escript
%% -*- erlang -*-
%% Prints random throughputs from the given seed in the format of parallel_messages_SUITE,
%% so that Erlang formats the numbers, operations and options.

main([Seed]) ->
    rand:seed(exsss, list_to_integer(Seed)),
    io:format("# drawn by chance$~n~n#BENCHMARK STARTED$~n"),
    [scenario(Options, Drawn, Way) || Options <- options(), Drawn <- drawn(), Way <- ["Send", "Receive"]],
    io:format("~n#BENCHMARK ENDED$~n~n").

options() ->
    [[{message_queue_data, off_heap}], [{message_queue_data, on_heap}, {priority, high}], []].

drawn() ->
    Half = fun(Size) -> [{0.5, {exit_signal_size, Size}}, {0.5, {message_size, Size}}] end,
    Change = [{0.000005, {message_queue_data_change, Where}} || Where <- [off_heap, on_heap]],
    Switching = [{0.499995, What} || {_, What} <- Half(1)] ++ Change,
    [[{1.0, {message_size, Size}}] || Size <- [1, 1000]] ++ [Half(10), Switching].

scenario(Options, Drawn, Way) ->
    Shares = [io_lib:format(" ~f% ~w", [Share * 100.0, What]) || {Share, What} <- Drawn],
    Parts = lists:join(", ", Shares),
    io:format("Scenario: ~s Throughput, send_duration=~w ms, ~s, Spawn Options=~w$~n", [Way, 1000, Parts, Options]),
    Senders = lists:seq(1, 20),
    [io:format("; ~w", [N]) || N <- Senders],
    io:format("$~n~s", [erlang:system_info(otp_release)]),
    [value(N, Drawn) || N <- Senders],
    io:format("$~n").

value(N, Drawn) ->
    Throughput = rand:uniform() * math:pow(10, rand:uniform(9)),
    io:format("; ~f", [Throughput]),
    io:format("~n~n#Name: Scenario: ~w, # of Processes: ~w Throughput: ~w~n~n", [Drawn, N, Throughput]).
