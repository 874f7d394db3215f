%% Runs the programs of the differential test on the real BEAM: reads them from standard input, runs
%% each until it is at rest, and writes the outcome.
%%
%% The virtual machine must have one scheduler, because rest is detected by priority: programs run
%% at high, so this process, which runs at normal, is not scheduled while any of them can run,
%% handle a signal or finish exiting. A yield that returns therefore means that the program is at
%% rest, without polling or waiting.
-module(differential).
-export([main/0, prepare/0]).

%% A packet is a term: a batch of programs or of trees. The answer is the list of their outcomes.
main() ->
    prepare(),
    Port = open_port({fd, 0, 1}, [binary, eof, {packet, 4}]),
    serve(Port).

%% Crashes are part of the test, so logging is off.
prepare() ->
    ok = logger:set_primary_config(level, none),
    Libraries = [Modules || Library <- [kernel, stdlib], {ok, Modules} <- [application:get_key(Library, modules)]],
    Own = [differential_code, differential_log, differential_process, differential_tree],
    lists:foreach(fun prepare/1, lists:append([Own | Libraries])).

%% Loading a module calls a process that runs at normal. The first log check of a module waits too,
%% because its result is cached in a persistent term.
prepare(Module) ->
    {module, _} = code:ensure_loaded(Module),
    logger:allow(error, Module).

serve(Port) ->
    receive
        {Port, {data, Batch}} ->
            port_command(Port, term_to_binary(answer(binary_to_term(Batch)))),
            serve(Port);
        {Port, eof} ->
            halt(0)
    end.

answer({programs, Programs}) -> [run(Program, Seed) || {Program, Seed} <- Programs];
answer({trees, Trees}) -> [differential_tree:run(Tree) || Tree <- Trees];
answer(release) -> [differential_code:release()].

%% `Seed` decides where the processes yield.
run(#{bases := Bases, scripts := All}, Seed) ->
    Scripts = list_to_tuple(All),
    Log = differential_log:start(),
    Started = [{I, base(I, Scripts, Log, Seed)} || I <- lists:seq(0, Bases - 1)],
    Pids = maps:from_list([{I, Pid} || {I, {Pid, _}} <- Started]),
    Aliases = maps:from_list([{I, Alias} || {I, {_, Alias}} <- Started]),
    maps:foreach(fun(_, Pid) -> Pid ! {go, Pids, Aliases} end, Pids),
    Seen = rest(Log),
    Outcome = differential_log:outcome(Seen, tuple_size(Scripts)),
    differential_log:clear(Log, Seen),
    Outcome.

base(I, Scripts, Log, Seed) ->
    Driver = self(),
    Pid = spawn_opt(
        fun() ->
            Driver ! {alias, self(), differential_code:priority_alias()},
            receive {go, Pids, Aliases} -> differential_process:run(I, Scripts, Pids, Aliases, Log, Seed) end
        end,
        [{priority, high}]
    ),
    Log ! {pid, I, Pid, self()},
    receive {watched, Pid} -> ok end,
    receive {alias, Pid, Alias} -> {Pid, Alias} end.

%% Lets the program come to rest, and then times out the first waiting receive (`After::Idle`),
%% until no process waits in one.
rest(Log) ->
    erlang:yield(),
    Seen = differential_log:look(Log),
    case differential_log:first_idle(Seen) of
        none ->
            Seen;
        Pid ->
            Pid ! idle,
            rest(Log)
    end.
