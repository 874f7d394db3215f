#!/usr/bin/env escript
%% -*- erlang -*-
%% Plays scenarios to OTP's own supervisor module and prints the trace of each in one line.
%%
%% The script calls the module's callbacks directly instead of running it in gen_server's loop, so
%% each step is complete before the next. The module runs on a clock that the scenario sets: its
%% abstract code is recompiled with `erlang:monotonic_time/1` replaced by the clock of this script.
-mode(compile).
-export([init/1, start/1]).

main([]) ->
    logger:set_primary_config(level, none),
    _ = io:setopts([{binary, true}]),
    make_module(),
    ets:new(world, [named_table, public]),
    ets:new(seen, [named_table, public, ordered_set]),
    process_flag(trap_exit, true),
    each().

each() ->
    case io:read(standard_io, "") of
        {ok, Scenario} ->
            ets:delete_all_objects(world),
            ets:delete_all_objects(seen),
            play(Scenario),
            Seen = [What || {_, What} <- ets:tab2list(seen)],
            io:put_chars([lists:join($\s, Seen), $\n]),
            each();
        eof ->
            ok
    end.

make_module() ->
    Chunks = beam_lib:chunks(code:which(supervisor), [abstract_code]),
    {ok, {_, [{abstract_code, {_, Forms}}]}} = Chunks,
    {ok, fed, Code} = compile:forms([feed(Form) || Form <- Forms], []),
    {module, fed} = code:load_binary(fed, "fed", Code).

feed({attribute, At, module, supervisor}) -> {attribute, At, module, fed};
feed({call, At, {remote, _, {atom, _, erlang}, {atom, _, monotonic_time}}, [_Second]}) ->
    {call, At, {remote, At, {atom, At, erlang}, {atom, At, get}}, [{atom, At, now}]};
feed(Form) when is_tuple(Form) -> list_to_tuple(feed(tuple_to_list(Form)));
feed([Form | Forms]) -> [feed(Form) | feed(Forms)];
feed(Form) -> Form.

play({Strategy, Intensity, Period, Auto, Kinds, Fails, Events}) ->
    put(now, 0),
    put(strategy, Strategy),
    ets:insert(world, {{fail, Fails}, 1}),
    Flags = #{strategy => Strategy, intensity => Intensity, period => Period,
              auto_shutdown => Auto},
    Specs = case Strategy of
                simple_one_for_one -> [(spec(0, hd(Kinds)))#{start := {?MODULE, start, []}}];
                _ -> [spec(N, Kind) || {N, Kind} <- lists:zip(lists:seq(1, length(Kinds)), Kinds)]
            end,
    put(init, {ok, {Flags, Specs}}),
    case plain(fed:init({self, ?MODULE, []})) of
        {ok, State} ->
            case happen(Events, State) of
                {go_on, Last} -> show(Last), finish(shutdown, Last);
                {stop, Last} -> saw("shutdown"), finish(shutdown, Last)
            end;
        {stop, {shutdown, {failed_to_start_child, Id, _}}} ->
            saw(["failed_to_start_child:", text(Id)])
    end,
    flush().

%% The result of a callback without the request to hibernate, now or later, that OTP 27 and 29 add.
plain({ok, State, _}) -> {ok, State};
plain({noreply, State, _}) -> {noreply, State};
plain({reply, Reply, State, _}) -> {reply, Reply, State};
plain(Result) -> Result.

finish(Reason, State) ->
    Before = ets:last(seen),
    fed:terminate(Reason, State),
    case get(strategy) of
        simple_one_for_one ->
            %% Concurrent stops have no order, so the trace sorts them.
            Stops = [Entry || {At, _} = Entry <- ets:tab2list(seen), At > Before],
            [ets:delete(seen, At) || {At, _} <- Stops],
            [saw(What) || What <- lists:sort([What || {_, What} <- Stops])];
        _ -> ok
    end.

flush() ->
    receive _ -> flush() after 0 -> ok end.

init([]) -> get(init).

spec(N, {Restart, Significant}) ->
    #{id => N, start => {?MODULE, start, [N]}, restart => Restart, significant => Significant}.

happen([], State) -> {go_on, State};
happen([Event | Events], State) ->
    case plain(event(Event, State)) of
        {noreply, Next} -> happen(Events, Next);
        {reply, Reply, Next} -> saw(said(Reply)), happen(Events, Next);
        {stop, shutdown, Next} -> {stop, Next}
    end.

event({wait, Seconds}, State) ->
    put(now, get(now) + Seconds),
    {noreply, State};
event({fail, N, Times}, State) ->
    ets:insert(world, {{fail, N}, Times}),
    {noreply, State};
event({ignore, N}, State) ->
    ets:insert(world, {{ignore, N}, 1}),
    {noreply, State};
event({crash, N, Reason}, State) ->
    case pid(N) of
        undefined -> {noreply, State};
        Pid ->
            case Reason of
                killed -> exit(Pid, kill);
                _ -> Pid ! {crash, Reason}
            end,
            receive {'EXIT', Pid, Reason} -> ok end,
            saw(["crash:", text(N)]),
            fed:handle_info({'EXIT', Pid, Reason}, State)
    end;
event({late, N}, State) ->
    case ets:lookup(world, {pid, N}) of
        [{_, Pid}] ->
            case is_process_alive(Pid) of
                true -> {noreply, State};
                false -> saw(["late:", text(N)]), fed:handle_info({'EXIT', Pid, oops}, State)
            end;
        [] -> {noreply, State}
    end;
event(again, State) ->
    receive {'$gen_cast', Again} -> saw("again"), fed:handle_cast(Again, State)
    after 0 -> {noreply, State}
    end;
event({start, N, Kind}, State) ->
    case get(strategy) of
        simple_one_for_one ->
            case pid(N) of
                undefined -> call({start_child, [N]}, State);
                _ -> {noreply, State}
            end;
        _ -> call({start_child, spec(N, Kind)}, State)
    end;
event({terminate, N}, State) ->
    case get(strategy) of
        simple_one_for_one ->
            case pid(N) of
                undefined -> {noreply, State};
                Pid -> call({terminate_child, Pid}, State)
            end;
        _ -> call({terminate_child, N}, State)
    end;
event({What, N}, State) ->
    case {get(strategy), What} of
        {simple_one_for_one, _} -> {noreply, State};
        {_, restart} -> call({restart_child, N}, State);
        {_, delete} -> call({delete_child, N}, State)
    end.

call(Request, State) -> fed:handle_call(Request, from, State).

said(ok) -> "ok";
said({ok, undefined}) -> "ok:undefined";
said({ok, _}) -> "ok";
said({error, {already_started, _}}) -> "already_started";
said({error, planned}) -> "error";
said({error, {planned, _}}) -> "error";
said({error, Why}) when is_atom(Why) -> text(Why).

show(State) ->
    {reply, Counts, _} = plain(call(count_children, State)),
    [Specs, Active, Supervisors, Workers] =
        [proplists:get_value(Key, Counts) || Key <- [specs, active, supervisors, workers]],
    saw(["specs:", text(Specs), " active:", text(Active), " all:", text(Supervisors + Workers)]),
    case get(strategy) of
        simple_one_for_one -> ok;
        _ ->
            {reply, Children, _} = plain(call(which_children, State)),
            %% OTP lists the newest child first.
            [saw([text(Id), $:, place(Child)]) || {Id, Child, _, _} <- lists:reverse(Children)]
    end.

place(Pid) when is_pid(Pid) -> "running";
place(Place) -> text(Place).

start(N) ->
    case less({fail, N}) of
        true -> saw(["fail:", text(N)]), {error, planned};
        false -> start_unless_ignored(N)
    end.

start_unless_ignored(N) ->
    case less({ignore, N}) of
        true -> saw(["ignore:", text(N)]), ignore;
        false ->
            Parent = self(),
            Pid = spawn_link(fun() -> process_flag(trap_exit, true), Parent ! ready, child(N) end),
            receive ready -> ok end,
            ets:insert(world, {{pid, N}, Pid}),
            saw(["start:", text(N)]),
            {ok, Pid}
    end.

less(Key) ->
    case ets:lookup(world, Key) of
        [{_, Left}] when Left > 0 -> ets:insert(world, {Key, Left - 1});
        _ -> false
    end.

child(N) ->
    receive
        {'EXIT', _, shutdown} -> saw(["stop:", text(N)]), exit(shutdown);
        {crash, Reason} -> exit(Reason)
    end.

pid(N) ->
    case ets:lookup(world, {pid, N}) of
        [{_, Pid}] ->
            case is_process_alive(Pid) of
                true -> Pid;
                false -> undefined
            end;
        [] -> undefined
    end.

saw(What) -> ets:insert(seen, {erlang:unique_integer([monotonic]), What}).

text(Term) -> io_lib:format("~p", [Term]).
