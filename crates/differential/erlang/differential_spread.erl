%% The half of a spread program that is on the BEAM. The other half is on a node of purlin; see src/spread.rs.
%%
%% Commands come over standard input, one term per packet. A packet that goes out is a zero, which requests a cut of the
%% wire, or a one followed by the answer. Rest of the programs here is detected as in differential.erl: a process at
%% priority normal is not scheduled while any of them can run. So the answer to a question of the other node, which
%% follows all signals that node sent before, is sent after all of these were handled. The number of reports in the answer
%% shows whether the processes here have done anything since the last one.
-module(differential_spread).
-export([main/0]).

main() ->
    differential:prepare(),
    register(differential, self()),
    serve(open_port({fd, 0, 1}, [binary, eof, {packet, 4}]), none).

serve(Port, Run) ->
    receive
        {Port, {data, Packet}} ->
            {Answer, Next} = do(binary_to_term(Packet), Run, Port),
            port_command(Port, [1, term_to_binary(Answer)]),
            serve(Port, Next);
        {rest, From, Question} ->
            erlang:yield(),
            From ! {rest, Question, events(Run)},
            serve(Port, Run);
        {Port, eof} ->
            halt(0)
    end.

%% `Here` has a bit for each base process that is on this node.
do({start, #{bases := Bases, scripts := All}, Seed, Here, Node}, none, Port) ->
    Scripts = list_to_tuple(All),
    Log = differential_log:start(),
    Is = [I || I <- lists:seq(0, Bases - 1), (Here bsr I) band 1 =:= 1],
    Started = [{I, base(I, Scripts, Log, Seed, {Node, Port})} || I <- Is],
    Pids = [{I, Pid} || {I, {Pid, _}} <- Started],
    Aliases = [{I, Alias} || {I, {_, Alias}} <- Started],
    {{Pids, Aliases}, {Log, tuple_size(Scripts), {Pids, Aliases}}};
do({go, OtherPids, OtherAliases}, {_, _, {Pids, Aliases}} = Run, _) ->
    Go = {go, maps:from_list(Pids ++ OtherPids), maps:from_list(Aliases ++ OtherAliases)},
    [Pid ! Go || {_, Pid} <- Pids],
    {ok, Run};
do(release, Run, _) ->
    {differential_code:release(), Run};
do(idle, none, _) ->
    {[], none};
do(idle, {Log, _, _} = Run, _) ->
    {differential_log:idle(differential_log:look(Log)), Run};
do({wake, I}, {Log, _, _} = Run, _) ->
    {_, Pid} = lists:keyfind(I, 1, differential_log:pids(differential_log:look(Log))),
    Pid ! idle,
    {ok, Run};
do({finish, Others}, {Log, Processes, _}, _) ->
    Seen = differential_log:look(Log),
    Answer = {differential_log:pids(Seen), differential_log:outcome(Seen, Processes, Others)},
    differential_log:clear(Log, Seen),
    {Answer, none}.

%% The number of reports of the program's processes.
events(none) -> 0;
events({Log, _, _}) -> differential_log:events(differential_log:look(Log)).

base(I, Scripts, Log, Seed, Spread) ->
    Driver = self(),
    Pid = spawn_opt(
        fun() ->
            Driver ! {alias, self(), differential_code:priority_alias()},
            receive
                {go, Pids, Aliases} ->
                    differential_process:run(I, Scripts, Pids, Aliases, Log, Seed, Spread)
            end
        end,
        [{priority, high}]
    ),
    Log ! {pid, I, Pid, self()},
    receive {watched, Pid} -> ok end,
    receive {alias, Pid, Alias} -> {Pid, Alias} end.
