%% One process of a program: executes its script and reports to the log.
-module(differential_process).
-export([run/6, run/7]).

-import(differential_code, [reason/1]).

%% Pids, aliases and monitors by number, calls without a reply yet, and the seed for yields; in a
%% spread program also the other node and the port over which a cut of the wire is requested.
-record(me, {i, scripts, pids, aliases, log, slots = #{}, owed = [], seed, spread}).

run(I, Scripts, Pids, Aliases, Log, Seed) ->
    run(I, Scripts, Pids, Aliases, Log, Seed, none).

run(I, Scripts, Pids, Aliases, Log, Seed, Spread) ->
    Me = #me{i = I, scripts = Scripts, aliases = Aliases, log = Log, spread = Spread},
    steps(element(I + 1, Scripts), Me#me{pids = Pids#{I => self()}, seed = Seed + I * 7919}).

steps([], _) ->
    ok;
steps([Op | Rest], Me) ->
    steps(Rest, step(Op, yield(Me))).

%% WHY: with one scheduler processes switch only where they wait or yield; so they yield before one
%% step in three.
yield(#me{seed = Seed} = Me) ->
    Next = (Seed * 1103515245 + 12345) band 16#7fffffff,
    case (Next bsr 16) rem 3 of
        0 -> erlang:yield();
        _ -> ok
    end,
    Me#me{seed = Next}.

step({spawn, Child, How}, Me) ->
    #me{scripts = Scripts, pids = Pids, aliases = Aliases, log = Log, seed = Seed, spread = Spread} = Me,
    Body = fun() -> run(Child, Scripts, Pids, Aliases, Log, Seed, Spread) end,
    Started =
        case How of
            plain -> spawn_opt(Body, [{priority, high}]);
            link -> spawn_opt(Body, [{priority, high}, link]);
            {monitor, _} -> spawn_opt(Body, [{priority, high}, monitor])
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
    case {Started, How} of
        {{_, Ref}, {monitor, Slot}} -> monitored(Ref, Slot, Knows);
        _ -> Knows
    end;
step({send, To, Tag}, Me) ->
    pid(To, Me) ! {message, Me#me.i, Tag},
    Me;
step({send_name, Name, Tag}, Me) ->
    see({sent_by_name, succeeds(fun() -> name(Name, Me) ! {message, Me#me.i, Tag} end)}, Me);
step({'receive', Pattern, never}, Me) ->
    take(Pattern, infinity, Me);
step({'receive', Pattern, zero}, Me) ->
    take(Pattern, 0, Me);
step({'receive', Pattern, idle}, Me) ->
    Me#me.log ! {idle, Me#me.i, true},
    Taken = take(Pattern, infinity, Me),
    Me#me.log ! {idle, Me#me.i, false},
    Taken;
step({link, To}, Me) ->
    %% If the end is already known, link raises in a process that does not trap; the signal would
    %% end it.
    try link(pid(To, Me)) catch error:noproc -> exit(noproc) end,
    Me;
step({link_priority, To}, Me) ->
    try erlang:link(pid(To, Me), [priority]) catch error:noproc -> exit(noproc) end,
    Me;
step({unlink, To}, Me) ->
    unlink(pid(To, Me)),
    Me;
step({monitor, To, Slot}, Me) ->
    monitored(monitor(process, pid(To, Me)), Slot, Me);
step({monitor_priority, To, Slot}, Me) ->
    monitored(monitor(process, pid(To, Me), [priority]), Slot, Me);
step({send_alias, To, Tag, Priority}, Me) ->
    erlang:send(maps:get(To, Me#me.aliases), {message, Me#me.i, Tag}, priority(Priority)),
    Me;
step({exit_alias, To, Reason, Priority}, Me) ->
    erlang:exit(maps:get(To, Me#me.aliases), reason(Reason), priority(Priority)),
    Me;
step(unalias, Me) ->
    unalias(maps:get(Me#me.i, Me#me.aliases)),
    Me;
step({monitor_name, Name, Slot}, Me) ->
    monitored(monitor(process, name(Name, Me)), Slot, Me);
step({demonitor, Slot, Flush}, Me) ->
    Ref = maps:get(Slot, Me#me.slots),
    There = demonitor(Ref, [info]),
    Flush andalso receive {'DOWN', Ref, _, _, _} -> ok after 0 -> ok end,
    see({demonitored, There}, Me);
step({exit_self, Reason}, _) ->
    exit(reason(Reason));
step(crash, _) ->
    error(crash);
step({exit, To, Reason}, Me) ->
    exit(pid(To, Me), reason(Reason)),
    Me;
step({trap, On}, Me) ->
    process_flag(trap_exit, On),
    Me;
step({register, Name, Who}, Me) ->
    see({registered, succeeds(fun() -> register(name(Name, Me), pid(Who, Me)) end)}, Me);
step({unregister, Name}, Me) ->
    see({unregistered, succeeds(fun() -> unregister(name(Name, Me)) end)}, Me);
step({whereis, Name}, Me) ->
    see({whereis, whereis(name(Name, Me))}, Me);
step({call, To, Tag}, Me) ->
    %% Like gen_server:call, but fails with the bare reason.
    Answer =
        try gen:call(pid(To, Me), '$gen_call', Tag, infinity) of
            {ok, Value} -> {answer, Value}
        catch
            exit:Reason -> {failed, Reason}
        end,
    see(Answer, Me);
step({reply, _}, #me{owed = []} = Me) ->
    Me;
step({reply, Value}, #me{owed = [Oldest | Others]} = Me) ->
    gen:reply(Oldest, Value),
    Me#me{owed = Others};
step(park, _) ->
    %% Asleep in a receive that matches; the compiler would warn about a receive without clauses.
    receive never -> never end;
step({cut, wire}, #me{spread = {_, Port}} = Me) ->
    port_command(Port, <<0>>),
    Me;
step({cut, node}, #me{spread = {Node, _}} = Me) ->
    erlang:disconnect_node(Node),
    Me.

%% `idle` comes from the driver when the program is at rest.
take(Pattern, Time, Me) ->
    {Kind, Wanted} =
        case Pattern of
            {down_of, Slot} -> {down_of, maps:get(Slot, Me#me.slots)};
            {tag, Tag} -> {tag, Tag};
            _ -> {Pattern, none}
        end,
    receive
        idle -> see(nothing, Me);
        M when Kind =:= any -> taken(M, Me);
        {message, _, Wanted} = M when Kind =:= tag -> taken(M, Me);
        {'$gen_call', _, _} = M when Kind =:= request -> taken(M, Me);
        {'DOWN', _, _, _, _} = M when Kind =:= down -> taken(M, Me);
        {'DOWN', Wanted, _, _, _} = M when Kind =:= down_of -> taken(M, Me);
        {'EXIT', _, _} = M when Kind =:= exit -> taken(M, Me)
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

priority(true) -> [priority];
priority(false) -> [].

succeeds(Does) ->
    try Does() of _ -> true catch error:badarg -> false end.

pid(Who, Me) ->
    maps:get(Who, Me#me.pids).

%% In a spread program the first name belongs to the other node.
name(0, #me{spread = {Node, _}}) -> {differential_code:name(0), Node};
name(Name, _) -> differential_code:name(Name).
