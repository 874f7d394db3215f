%% The programs of the differential test on the real BEAM: reads them from the standard input,
%% runs each to its rest, and writes what was seen.
%%
%% It needs a virtual machine with one scheduler, because rest is told by priorities: programs run
%% at high, so that this process, which runs at normal, is not chosen while any of them can go on,
%% handle a signal or finish its end. So a yield that returns says that the program rests; nothing
%% is polled and nothing waited for.
-module(differential).
-export([main/0, prepare/0]).

%% A packet is a batch: programs, each after its length. So is the answer.
main() ->
    prepare(),
    Port = open_port({fd, 0, 1}, [binary, eof, {packet, 4}]),
    serve(Port).

%% Crashes are what is tested; nobody wants to read of each.
prepare() ->
    ok = logger:set_primary_config(level, none),
    Libraries = [Modules || Library <- [kernel, stdlib], {ok, Modules} <- [application:get_key(Library, modules)]],
    Own = [differential_code, differential_log, differential_process, differential_tree],
    lists:foreach(fun prepare/1, lists:append([Own | Libraries])).

%% Loading a module asks a process that runs at normal. The first time that a module asks whether to
%% log it waits too, since the answer is kept where only the whole machine can change it.
prepare(Module) ->
    {module, _} = code:ensure_loaded(Module),
    logger:allow(error, Module).

serve(Port) ->
    receive
        {Port, {data, Batch}} ->
            port_command(Port, [answer(Kind, Program) || <<Length:32, Kind, Program:Length/binary>> <= Batch]),
            serve(Port);
        {Port, eof} ->
            halt(0)
    end.

answer(Kind, Program) ->
    Answer =
        case Kind of
            0 -> run(Program);
            1 -> differential_tree:run(Program)
        end,
    [<<(iolist_size(Answer)):32>>, Answer].

%% A program: a seed for where its processes yield, how many of them are there from the beginning,
%% and the scripts.
run(<<Seed:32, Bases, _, Coded/binary>>) ->
    Scripts = list_to_tuple([Script || <<Steps:16, Script:(Steps * 4)/binary>> <= Coded]),
    Log = differential_log:start(),
    Pids = maps:from_list([{I, base(I, Scripts, Log, Seed)} || I <- lists:seq(0, Bases - 1)]),
    maps:foreach(fun(_, Pid) -> Pid ! {go, Pids} end, Pids),
    Seen = rest(Log),
    Outcome = differential_log:outcome(Seen, tuple_size(Scripts)),
    differential_log:clear(Log, Seen),
    Outcome.

base(I, Scripts, Log, Seed) ->
    Pid = spawn_opt(
        fun() -> receive {go, Pids} -> differential_process:run(I, Scripts, Pids, Log, Seed) end end,
        [{priority, high}]
    ),
    Log ! {pid, I, Pid, self()},
    receive {watched, Pid} -> Pid end.

%% Lets the program come to its rest, and of those that wait a while lets the first go on, until
%% nobody waits so.
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
