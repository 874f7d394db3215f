%% The log of one program: what its processes report and how they end, as an `Outcome` of src/outcome.rs.
%%
%% Its process runs at priority max, before any process of the program.
-module(differential_log).
-export([start/0, look/1, events/1, first_idle/1, idle/1, pids/1, outcome/2, outcome/3, clear/2]).

-import(differential_code, [number_of_name/1, seen_reason/1]).

-record(log, {pids = #{}, numbers = #{}, refs = #{}, seen = #{}, ends = #{}, idle = [], events = 0}).

start() ->
    spawn_opt(fun() -> collect(#log{}) end, [{priority, max}]).

collect(Log) ->
    receive
        {look, From} ->
            From ! {log, self(), Log},
            collect(Log);
        Event ->
            collect(add(Event, Log#log{events = Log#log.events + 1}))
    end.

add({seen, I, Seen}, #log{seen = All} = Log) ->
    Log#log{seen = maps:update_with(I, fun(More) -> [Seen | More] end, [Seen], All)};
add({pid, I, Pid, By}, #log{pids = Pids, numbers = Numbers} = Log) ->
    monitor(process, Pid),
    By ! {watched, Pid},
    Log#log{pids = Pids#{I => Pid}, numbers = Numbers#{Pid => I}};
add({ref, Ref, Slot}, #log{refs = Refs} = Log) ->
    Log#log{refs = Refs#{Ref => Slot}};
add({idle, I, true}, #log{idle = Idle} = Log) ->
    Log#log{idle = lists:umerge([I], Idle)};
add({idle, I, false}, #log{idle = Idle} = Log) ->
    Log#log{idle = lists:delete(I, Idle)};
add({'DOWN', _, process, Pid, Reason}, #log{numbers = Numbers, ends = Ends, idle = Idle} = Log) ->
    I = maps:get(Pid, Numbers),
    Log#log{ends = Ends#{I => Reason}, idle = lists:delete(I, Idle)}.

look(Log) ->
    Log ! {look, self()},
    receive {log, Log, Seen} -> Seen end.

%% The number of reports. A process that waits does nothing without a report: that it has taken a message, that its receive
%% has timed out, or that it has ended. So if two numbers read at rest are equal, no process has sent anything in between.
events(#log{events = Events}) -> Events.

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
