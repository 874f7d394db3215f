%% One process of a program: executes its script and reports to the log.
-module(differential_process).
-export([run/5, run/6]).

-import(differential_code, [reason/1]).

%% Pids and monitors by number, calls without a reply yet, and the seed for yields; in a spread
%% program also the other node and the port over which a cut of the wire is requested.
-record(me, {i, scripts, pids, log, slots = #{}, owed = [], seed, spread}).

run(I, Scripts, Pids, Log, Seed) ->
    run(I, Scripts, Pids, Log, Seed, none).

run(I, Scripts, Pids, Log, Seed, Spread) ->
    Me = #me{i = I, scripts = Scripts, log = Log, spread = Spread},
    steps(element(I + 1, Scripts), Me#me{pids = Pids#{I => self()}, seed = Seed + I * 7919}).

steps(<<>>, _) ->
    ok;
steps(<<Op, A, B, C, Rest/binary>>, Me) ->
    steps(Rest, step(Op, A, B, C, yield(Me))).

%% WHY: with one scheduler processes switch only where they wait or yield; so they yield before one
%% step in three.
yield(#me{seed = Seed} = Me) ->
    Next = (Seed * 1103515245 + 12345) band 16#7fffffff,
    case (Next bsr 16) rem 3 of
        0 -> erlang:yield();
        _ -> ok
    end,
    Me#me{seed = Next}.

step(1, Child, How, Slot, Me) ->
    #me{scripts = Scripts, pids = Pids, log = Log, seed = Seed, spread = Spread} = Me,
    Body = fun() -> run(Child, Scripts, Pids, Log, Seed, Spread) end,
    Started =
        case How of
            0 -> spawn_opt(Body, [{priority, high}]);
            1 -> spawn_opt(Body, [{priority, high}, link]);
            2 -> spawn_opt(Body, [{priority, high}, monitor])
        end,
    Pid =
        case Started of
            {Pid_, _} -> Pid_;
            Pid_ -> Pid_
        end,
    %% Every later signal to the child comes after the log's monitor.
    Log ! {pid, Child, Pid, self()},
    receive {watched, Pid} -> ok end,
    Knows = Me#me{pids = Pids#{Child => Pid}},
    case Started of
        {_, Ref} -> monitored(Ref, Slot, Knows);
        _ -> Knows
    end;
step(2, To, Tag, _, Me) ->
    pid(To, Me) ! {message, Me#me.i, Tag},
    Me;
step(3, Name, Tag, _, Me) ->
    see({sent, succeeds(fun() -> name(Name, Me) ! {message, Me#me.i, Tag} end)}, Me);
step(4, Pattern, Argument, 0, Me) ->
    take(Pattern, Argument, infinity, Me);
step(4, Pattern, Argument, 1, Me) ->
    take(Pattern, Argument, 0, Me);
step(4, Pattern, Argument, 2, Me) ->
    Me#me.log ! {idle, Me#me.i, true},
    Taken = take(Pattern, Argument, infinity, Me),
    Me#me.log ! {idle, Me#me.i, false},
    Taken;
step(5, To, _, _, Me) ->
    %% If the end is already known, link raises in a process that does not trap; the signal would
    %% end it.
    try link(pid(To, Me)) catch error:noproc -> exit(noproc) end,
    Me;
step(6, To, _, _, Me) ->
    unlink(pid(To, Me)),
    Me;
step(7, To, Slot, _, Me) ->
    monitored(monitor(process, pid(To, Me)), Slot, Me);
step(8, Name, Slot, _, Me) ->
    monitored(monitor(process, name(Name, Me)), Slot, Me);
step(9, Slot, Flush, _, Me) ->
    Ref = maps:get(Slot, Me#me.slots),
    There = demonitor(Ref, [info]),
    Flush =:= 1 andalso receive {'DOWN', Ref, _, _, _} -> ok after 0 -> ok end,
    see({demonitored, There}, Me);
step(10, Reason, _, _, _) ->
    exit(reason(Reason));
step(11, _, _, _, _) ->
    error(crash);
step(12, To, Reason, _, Me) ->
    exit(pid(To, Me), reason(Reason)),
    Me;
step(13, On, _, _, Me) ->
    process_flag(trap_exit, On =:= 1),
    Me;
step(14, Name, Who, _, Me) ->
    see({registered, succeeds(fun() -> register(name(Name, Me), pid(Who, Me)) end)}, Me);
step(15, Name, _, _, Me) ->
    see({unregistered, succeeds(fun() -> unregister(name(Name, Me)) end)}, Me);
step(16, Name, _, _, Me) ->
    see({whereis, whereis(name(Name, Me))}, Me);
step(17, To, Tag, _, Me) ->
    %% Like gen_server:call, but fails with the bare reason.
    Answer =
        try gen:call(pid(To, Me), '$gen_call', Tag, infinity) of
            {ok, Value} -> {answer, Value}
        catch
            exit:Reason -> {failed, Reason}
        end,
    see(Answer, Me);
step(18, _, _, _, #me{owed = []} = Me) ->
    Me;
step(18, Value, _, _, #me{owed = [Oldest | Others]} = Me) ->
    gen:reply(Oldest, Value),
    Me#me{owed = Others};
step(19, _, _, _, _) ->
    %% Asleep in a receive that matches; the compiler would warn about a receive without clauses.
    receive never -> never end;
step(20, 0, _, _, #me{spread = {_, Port}} = Me) ->
    port_command(Port, <<0>>),
    Me;
step(20, 1, _, _, #me{spread = {Node, _}} = Me) ->
    erlang:disconnect_node(Node),
    Me.

%% `idle` comes from the driver when the program is at rest.
take(Pattern, Argument, Time, Me) ->
    Wanted =
        case Pattern of
            4 -> maps:get(Argument, Me#me.slots);
            _ -> Argument
        end,
    receive
        idle -> see(nothing, Me);
        M when Pattern =:= 0 -> taken(M, Me);
        {message, _, Wanted} = M when Pattern =:= 1 -> taken(M, Me);
        {'$gen_call', _, _} = M when Pattern =:= 2 -> taken(M, Me);
        {'DOWN', _, _, _, _} = M when Pattern =:= 3 -> taken(M, Me);
        {'DOWN', Wanted, _, _, _} = M when Pattern =:= 4 -> taken(M, Me);
        {'EXIT', _, _} = M when Pattern =:= 5 -> taken(M, Me)
    after Time -> see(nothing, Me)
    end.

taken({'$gen_call', From, _} = Request, #me{owed = Owed} = Me) ->
    see({got, Request}, Me#me{owed = Owed ++ [From]});
taken(Message, Me) ->
    see({got, Message}, Me).

see(Seen, Me) ->
    Me#me.log ! {seen, Me#me.i, Seen},
    Me.

monitored(Ref, Slot, #me{slots = Slots, log = Log} = Me) ->
    Log ! {ref, Ref, Slot},
    Me#me{slots = Slots#{Slot => Ref}}.

succeeds(Does) ->
    try Does() of _ -> true catch error:badarg -> false end.

pid(Who, Me) ->
    maps:get(Who, Me#me.pids).

%% In a spread program the first name belongs to the other node.
name(0, #me{spread = {Node, _}}) -> {differential_code:name(0), Node};
name(Name, _) -> differential_code:name(Name).
