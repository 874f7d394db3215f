%% A tree of supervisors on the real BEAM: OTP's `supervisor`, with orders that are given one at a
%% time, each when the tree is at rest.
%%
%% Every process of the tree runs at high priority from its start, so that a yield of this process,
%% which runs at normal, returns when the tree is at rest (see differential.erl). The table of the
%% run holds the events by number and the live processes by id.
-module(differential_tree).
-behaviour(supervisor).
-export([run/1, init/1, start_supervisor/3, start_worker/2, worker/2]).

-import(differential_code, [reason/1, seen_reason/1]).

-define(TOP, 0).
%% In seconds; longer than any run.
-define(PERIOD, 1000000).

run(#{top := Top, orders := Orders}) ->
    process_flag(trap_exit, true),
    Table = ets:new(?MODULE, [ordered_set, public]),
    case start_supervisor(Table, ?TOP, Top) of
        {ok, _} -> give(Orders, Table);
        {error, _} -> ok
    end,
    case alive(Table, ?TOP) of
        %% This process is the supervisor's parent.
        {ok, Pid} -> exit(Pid, shutdown);
        no_process -> ok
    end,
    receive {'EXIT', _, Reason} -> see(Table, {over, seen_end(Reason)}) end,
    erlang:yield(),
    Seen = [Event || [Event] <- ets:match(Table, {{event, '_'}, '$1'})],
    ets:delete(Table),
    Seen.

%% Gives the orders one after the other, as long as the top supervisor is alive.
give([], _) ->
    ok;
give([Order | Orders], Table) ->
    Answer = order(Order, Table),
    erlang:yield(),
    see(Table, {answered, answer(Answer)}),
    case alive(Table, ?TOP) of
        {ok, Pid} ->
            children(Pid, Table),
            give(Orders, Table);
        no_process ->
            ok
    end.

order({'end', Id, Reason}, Table) ->
    to(Table, Id, fun(Pid) -> Pid ! {'end', reason(Reason)}, ok end);
order({kill, Id}, Table) ->
    to(Table, Id, fun(Pid) -> exit(Pid, kill), ok end);
order({fail, Id, Starts}, Table) ->
    ets:insert(Table, {{fails, Id}, Starts}),
    ok;
order({terminate, Of, Id}, Table) ->
    to(Table, Of, fun(Pid) -> supervisor:terminate_child(Pid, Id) end);
order({restart, Of, Id}, Table) ->
    to(Table, Of, fun(Pid) -> supervisor:restart_child(Pid, Id) end);
order({delete, Of, Id}, Table) ->
    to(Table, Of, fun(Pid) -> supervisor:delete_child(Pid, Id) end);
order({start, Of, Id, Restart}, Table) ->
    Child = #{id => Id, restart => Restart, brutal => false, significant => false, supervises => undefined},
    to(Table, Of, fun(Pid) -> supervisor:start_child(Pid, spec(Child, Table)) end);
order({stranger, Of}, Table) ->
    to(Table, Of, fun(Pid) -> stranger(Pid) end).

stranger(Pid) ->
    spawn_opt(fun() -> exit(Pid, shutdown) end, [{priority, high}]),
    ok.

to(Table, Id, Does) ->
    case alive(Table, Id) of
        {ok, Pid} -> try Does(Pid) catch exit:_ -> no_process end;
        no_process -> no_process
    end.

alive(Table, Id) ->
    case ets:lookup(Table, {pid, Id}) of
        [{_, Pid}] -> case is_process_alive(Pid) of true -> {ok, Pid}; false -> no_process end;
        [] -> no_process
    end.

%% Reports the children as listed by the supervisors.
children(Supervisor, Table) ->
    lists:foreach(
        fun({Id, Child, Type, _}) ->
            see(Table, {child, Id, is_pid(Child)}),
            is_pid(Child) andalso Type =:= supervisor andalso children(Child, Table)
        end,
        supervisor:which_children(Supervisor)
    ).

spec(#{id := Id, restart := Restart, brutal := Brutal, significant := Significant} = Child, Table) ->
    Shutdown = case Brutal of true -> brutal_kill; false -> infinity end,
    Common = #{id => Id, restart => Restart, shutdown => Shutdown, significant => Significant},
    case Child of
        #{supervises := undefined} -> Common#{start => {?MODULE, start_worker, [Table, Id]}};
        #{supervises := Own} -> Common#{start => {?MODULE, start_supervisor, [Table, Id, Own]}, type => supervisor}
    end.

%% Like supervisor:start_link, with a priority.
start_supervisor(Table, Id, Supervisor) ->
    Arguments = {self, ?MODULE, {Table, Id, Supervisor}},
    gen_server:start_link(supervisor, Arguments, [{spawn_opt, [{priority, high}]}]).

init({Table, Id, #{children := Children} = Supervisor}) ->
    ets:insert(Table, {{pid, Id}, self()}),
    Flags = maps:with([strategy, intensity, auto_shutdown], Supervisor),
    {ok, {Flags#{period => ?PERIOD}, [spec(Child, Table) || Child <- Children]}}.

start_worker(Table, Id) ->
    case ets:lookup(Table, {fails, Id}) of
        [{_, Left}] when Left > 0 ->
            ets:insert(Table, {{fails, Id}, Left - 1}),
            see(Table, {refused, Id}),
            {error, refused};
        _ ->
            proc_lib:start_link(?MODULE, worker, [Table, Id], infinity, [{priority, high}])
    end.

worker(Table, Id) ->
    process_flag(trap_exit, true),
    ets:insert(Table, {{pid, Id}, self()}),
    see(Table, {started, Id}),
    proc_lib:init_ack({ok, self()}),
    receive
        {'end', Reason} ->
            see(Table, {ended, Id, seen_reason(Reason)}),
            exit(Reason);
        {'EXIT', _, Reason} ->
            see(Table, {stopped, Id, seen_reason(Reason)}),
            exit(Reason)
    end.

%% The reason of a supervisor whose first children fail to start contains the child and its reason.
seen_end({shutdown, {failed_to_start_child, _, _}}) -> shutdown_with;
seen_end(Reason) -> seen_reason(Reason).

see(Table, Event) ->
    ets:insert(Table, {{event, ets:update_counter(Table, events, 1, {events, 0})}, Event}).

answer(ok) -> done;
answer({ok, _}) -> done;
answer({error, {already_started, _}}) -> already_started;
answer({error, Known}) when Known =:= not_found; Known =:= running; Known =:= already_present; Known =:= restarting -> Known;
answer({error, _}) -> failed;
answer(no_process) -> no_process.
