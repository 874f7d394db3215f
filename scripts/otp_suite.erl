%% Comparison of OTP's parallel_messages_SUITE with the lab's signals on the BEAM, for otp-suite.sh.
%%
%% Three programs take turns on each scenario: the suite, the contender, and a copy of the contender
%% whose senders call the suite's function that chooses and sends a signal. All figures are receive
%% throughputs as the suite computes them: signals over the time of sending and of receiving the rest.
-module(otp_suite).
-export([main/1, sender/3]).

%% Duration of sending and rest before it, in ms.
-define(MS, 500).
-define(REST, 100).

%% Limit of signals in flight, as the lab sets it for lists of one element.
-define(ROOM, 8388608).

main([Suite, Signals, Folder, Rounds]) ->
    try
        load_suite(Suite, Folder),
        load_contender(Signals, Folder),
        compare(list_to_integer(Rounds)),
        halt(0)
    catch
        throw:Problem ->
            io:format(standard_error, "otp-suite: ~s~n", [Problem]),
            halt(2)
    end.

%% Loads the suite as a module of Folder, where it reads a template and writes its page.
load_suite(File, Folder) ->
    load(File, filename:join(Folder, "parallel_messages_SUITE.beam"), [export_all, nowarn_export_all]),
    Data = filename:join(Folder, "parallel_messages_SUITE_data"),
    _ = file:make_dir(Data),
    ok = file:write_file(filename:join(Data, "visualize_throughput.html"), "#bench_data_placeholder").

%% Loads the contender's module, and a copy that chooses and sends as the suite does.
load_contender(File, Folder) ->
    load(File, filename:join(Folder, "signals.beam"), []),
    {ok, Text} = file:read_file(File),
    Edits = [
        {<<"-module(signals)">>, <<"-module(choosing_signals)">>},
        {<<"send(First, Send,">>, <<"send(First, otp_suite:sender(Receiver, List, Exits),">>}
    ],
    Edit = fun({From, To}, Edited) ->
        case binary:matches(Edited, From) of
            [_] -> binary:replace(Edited, From, To);
            _ -> throw([File, " does not have ", From, " once; change otp_suite.erl"])
        end
    end,
    Copy = filename:join(Folder, "choosing_signals.erl"),
    ok = file:write_file(Copy, lists:foldl(Edit, Text, Edits)),
    load(Copy, filename:join(Folder, "choosing_signals.beam"), []).

load(File, Beam, Options) ->
    case compile:file(File, [binary, return_errors | Options]) of
        {ok, Module, Code} -> {module, Module} = code:load_binary(Module, Beam, Code);
        {error, _, _} -> throw([File, " cannot be compiled"])
    end.

compare(Rounds) ->
    Schedulers = erlang:system_info(schedulers_online),
    Senders = case Schedulers of 1 -> [1]; _ -> [1, 16] end,
    Scenarios = [{N, Exits} || N <- Senders, Exits <- [0, 50]],
    Programs = [fun suite/2, fun(N, Exits) -> lab(signals, N, Exits) end, fun(N, Exits) -> lab(choosing_signals, N, Exits) end],
    io:format("OTP ~s, ~b schedulers: median of ~b (least to most), million signals/s~n", [
        erlang:system_info(otp_release), Schedulers, Rounds
    ]),
    io:format("senders  exits  ~-20s~-20s~s~n", ["suite", "lab", "lab with the suite's choice"]),
    Taken = [{S, [Program(N, X) || Program <- Programs]} || _ <- lists:seq(1, Rounds), {N, X} = S <- Scenarios],
    lists:foreach(
        fun({N, Exits} = Scenario) ->
            Runs = [Run || {S, Run} <- Taken, S =:= Scenario],
            Cells = [cell([lists:nth(I, Run) || Run <- Runs]) || I <- [1, 2, 3]],
            io:format("~7b  ~4b%  ~-20s~-20s~s~n", [N, Exits | Cells])
        end,
        Scenarios
    ).

cell(Values) ->
    Sorted = lists:sort(Values),
    Median = lists:nth((length(Sorted) + 1) div 2, Sorted),
    io_lib:format("~.2f (~.2f-~.2f)", [V / 1.0e6 || V <- [Median, hd(Sorted), lists:last(Sorted)]]).

%% Runs one point of the suite by its own function. Its text goes nowhere.
suite(N, Exits) ->
    Root = self(),
    Scenario = case Exits of
        0 -> [{1.0, {message_size, 1}}];
        50 -> [{0.5, {exit_signal_size, 1}}, {0.5, {message_size, 1}}]
    end,
    Config = {parallel_messages_bench_config, ?MS, ?REST, [N], 1, [true],
        [[{message_queue_data, off_heap}]], [Scenario],
        fun(_, Throughput) -> Root ! {throughput, Throughput} end, fun(_, _) -> ok end},
    {Pid, Monitor} = spawn_monitor(fun() ->
        group_leader(spawn_link(fun silent/0), self()),
        parallel_messages_SUITE:throughput_benchmark(Config)
    end),
    receive {'DOWN', Monitor, process, Pid, Reason} -> ok end,
    receive
        {throughput, Throughput} -> Throughput
    after 0 -> throw(io_lib:format("the suite ended with ~0tP; its configuration may have changed", [Reason, 8]))
    end.

%% An output device that prints nothing.
silent() ->
    receive
        {io_request, From, Reply, _} -> From ! {io_reply, Reply, ok}, silent()
    end.

%% Runs one point of the contender, in a fresh process as the contender does.
lab(Module, N, Exits) ->
    Asked = #{mode => 'receive', senders => N, ms => ?MS, exit_percent => Exits, s => 1, switch => 0,
        rest_ms => ?REST, room => ?ROOM, variant => off_heap, seed => 1},
    {Pid, Monitor} = spawn_monitor(fun() -> exit({sample, Module:run(Asked)}) end),
    receive
        {'DOWN', Monitor, process, Pid, {sample, #{sent := Sent, received := Sent, drain_ns := Drain}}} ->
            Sent / (?MS / 1000 + Drain / 1.0e9);
        {'DOWN', Monitor, process, Pid, Reason} ->
            throw(io_lib:format("the contender ended with ~0tP", [Reason, 8]))
    end.

%% Returns a function that chooses and sends a signal as a sender of the suite does: with the suite's
%% own function, and operations that are kept in the process dictionary as there.
sender(Receiver, List, Exits) ->
    Operations = fun
        ({message_size, Size}) ->
            case get(Size) of
                undefined ->
                    Send = fun(To) -> To ! List end,
                    put(Size, Send),
                    Send;
                Send -> Send
            end;
        ({exit_signal_size, _} = Kind) ->
            case get(Kind) of
                undefined ->
                    Send = fun(To) -> exit(To, List) end,
                    put(Kind, Send),
                    Send;
                Send -> Send
            end
    end,
    Table = case Exits of
        0 -> [{1.0, {message_size, 1}}];
        _ -> [{0.5, {exit_signal_size, 1}}, {1.0, {message_size, 1}}]
    end,
    fun(_Draw) -> parallel_messages_SUITE:do_op(Table, Operations, Receiver) end.
