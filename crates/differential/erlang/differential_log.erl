%% The log of one program: what its processes report and how they end, encoded as an outcome.
%%
%% Its process runs at priority max, before any process of the program.
-module(differential_log).
-export([start/0, look/1, first_idle/1, idle/1, pids/1, outcome/2, outcome/3, clear/2]).

-import(differential_code, [bool/1, code_of_name/1, code_of_reason/1]).

-record(log, {pids = #{}, numbers = #{}, refs = #{}, seen = #{}, ends = #{}, idle = []}).

start() ->
    spawn_opt(fun() -> collect(#log{}) end, [{priority, max}]).

collect(Log) ->
    receive
        {seen, I, Seen} ->
            collect(Log#log{seen = maps:update_with(I, fun(More) -> [Seen | More] end, [Seen], Log#log.seen)});
        {pid, I, Pid, By} ->
            monitor(process, Pid),
            By ! {watched, Pid},
            #log{pids = Pids, numbers = Numbers} = Log,
            collect(Log#log{pids = Pids#{I => Pid}, numbers = Numbers#{Pid => I}});
        {ref, Ref, Slot} ->
            collect(Log#log{refs = (Log#log.refs)#{Ref => Slot}});
        {idle, I, true} ->
            collect(Log#log{idle = lists:umerge([I], Log#log.idle)});
        {idle, I, false} ->
            collect(Log#log{idle = lists:delete(I, Log#log.idle)});
        {'DOWN', _, process, Pid, Reason} ->
            I = maps:get(Pid, Log#log.numbers),
            collect(Log#log{ends = (Log#log.ends)#{I => Reason}, idle = lists:delete(I, Log#log.idle)});
        {look, From} ->
            From ! {log, self(), Log},
            collect(Log)
    end.

look(Log) ->
    Log ! {look, self()},
    receive {log, Log, Seen} -> Seen end.

%% Of the processes in a receive with an idle timeout, the one with the lowest number.
first_idle(#log{idle = []}) -> none;
first_idle(#log{idle = [First | _], pids = Pids}) -> maps:get(First, Pids).

%% The numbers of all processes in a receive with an idle timeout.
idle(#log{idle = Idle}) -> Idle.

%% The spawned processes.
pids(#log{pids = Pids}) -> maps:to_list(Pids).

%% Kills the remaining processes of the program, so that its names are free for the next.
clear(Log, #log{pids = Pids}) ->
    maps:foreach(fun(_, Pid) -> exit(Pid, kill) end, Pids),
    exit(Log, kill),
    erlang:yield().

%% The outcome, including the numbers of processes of another node.
outcome(#log{numbers = Numbers} = Log, Processes, Others) ->
    Known = maps:from_list([{Pid, I} || {I, Pid} <- Others]),
    outcome(Log#log{numbers = maps:merge(Numbers, Known)}, Processes).

outcome(Log, Processes) ->
    [trace(I, Log) || I <- lists:seq(0, Processes - 1)].

trace(I, #log{seen = Seen, ends = Ends, pids = Pids} = Log) ->
    Entries = lists:reverse(maps:get(I, Seen, [])),
    End =
        case {Ends, Pids} of
            {#{I := Reason}, _} ->
                <<1, (code_of_reason(Reason))>>;
            {_, #{I := Pid}} ->
                {messages, Left} = process_info(Pid, messages),
                [<<2, (length(Left)):16>> | [item(Message, Log) || Message <- Left]];
            _ ->
                <<0>>
        end,
    [<<(length(Entries)):16>>, [entry(Entry, Log) || Entry <- Entries], End].

item({message, From, Tag}, _) ->
    <<1, From, Tag, 0>>;
item({'$gen_call', {Pid, _}, Tag}, Log) ->
    <<2, (number(Pid, Log)), Tag, 0>>;
item({'DOWN', Ref, process, Pid, Reason}, Log) when is_pid(Pid) ->
    <<3, (maps:get(Ref, Log#log.refs)), (number(Pid, Log)), (code_of_reason(Reason))>>;
item({'DOWN', Ref, process, {Name, _}, Reason}, Log) ->
    <<4, (maps:get(Ref, Log#log.refs)), (code_of_name(Name)), (code_of_reason(Reason))>>;
item({'EXIT', Pid, Reason}, Log) ->
    <<5, (number(Pid, Log)), (code_of_reason(Reason)), 0>>;
item(Other, _) ->
    %% No program sends this message; the code makes the outcome invalid.
    io:format(standard_error, "differential: an unknown message ~p~n", [Other]),
    <<255, 0, 0, 0>>.

entry({got, Message}, Log) -> item(Message, Log);
entry(nothing, _) -> <<6, 0, 0, 0>>;
entry({registered, Done}, _) -> <<7, (bool(Done)), 0, 0>>;
entry({unregistered, Done}, _) -> <<8, (bool(Done)), 0, 0>>;
entry({whereis, undefined}, _) -> <<9, 255, 0, 0>>;
entry({whereis, Pid}, Log) -> <<9, (number(Pid, Log)), 0, 0>>;
entry({sent, Done}, _) -> <<10, (bool(Done)), 0, 0>>;
entry({demonitored, There}, _) -> <<11, (bool(There)), 0, 0>>;
entry({answer, Value}, _) -> <<12, Value, 0, 0>>;
entry({failed, calling_self}, _) -> <<14, 0, 0, 0>>;
entry({failed, Reason}, _) -> <<13, (code_of_reason(Reason)), 0, 0>>.

number(Pid, #log{numbers = Numbers}) -> maps:get(Pid, Numbers).
