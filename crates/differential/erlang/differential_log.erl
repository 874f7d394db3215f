%% The log of one program: what its processes report and how they end, as an `Outcome` of src/outcome.rs.
%%
%% Its process runs at priority max, before any process of the program.
-module(differential_log).
-export([start/0, look/1, first_idle/1, idle/1, pids/1, outcome/2, outcome/3, clear/2]).

-import(differential_code, [number_of_name/1, seen_reason/1]).

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
                {ended, seen_reason(Reason)};
            {_, #{I := Pid}} ->
                {messages, Left} = process_info(Pid, messages),
                {waits, [item(Message, Log) || Message <- Left]};
            _ ->
                unborn
        end,
    #{log => [entry(Entry, Log) || Entry <- Entries], 'end' => End}.

item({message, From, Tag}, _) ->
    {message, From, Tag};
item({'$gen_call', {Pid, _}, Tag}, Log) ->
    {request, number(Pid, Log), Tag};
item({'DOWN', Ref, process, Pid, Reason}, Log) when is_pid(Pid) ->
    {down, maps:get(Ref, Log#log.refs), {process, number(Pid, Log)}, seen_reason(Reason)};
item({'DOWN', Ref, process, {Name, _}, Reason}, Log) ->
    {down, maps:get(Ref, Log#log.refs), {name, number_of_name(Name)}, seen_reason(Reason)};
item({'EXIT', Pid, Reason}, Log) ->
    {exit, number(Pid, Log), seen_reason(Reason)};
item(Other, _) ->
    %% No program sends this message; it makes the outcome invalid.
    io:format(standard_error, "differential: an unknown message ~p~n", [Other]),
    unknown.

entry({got, Message}, Log) -> {got, item(Message, Log)};
entry({whereis, undefined}, _) -> {whereis, undefined};
entry({whereis, Pid}, Log) -> {whereis, number(Pid, Log)};
entry({failed, calling_self}, _) -> refused;
entry({failed, Reason}, _) -> {failed, seen_reason(Reason)};
entry(Seen, _) -> Seen.

number(Pid, #log{numbers = Numbers}) -> maps:get(Pid, Numbers).
