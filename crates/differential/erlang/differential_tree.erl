%% A tree of supervisors on the real BEAM: OTP's `supervisor`, with orders that are given one at a
%% time, each when the tree is at rest.
%%
%% Every process of the tree runs at high priority from its start, so that a yield of this process,
%% which runs at normal, returns when the tree is at rest (see differential.erl). The table of the
%% run holds the events by number and the live processes by id.
-module(differential_tree).
-behaviour(supervisor).
-export([run/1, init/1, start_supervisor/3, start_worker/2, worker/2]).

-import(differential_code, [bool/1, code_of_reason/1, reason/1]).

-define(TOP, 0).
%% In seconds; longer than any run.
-define(PERIOD, 1000000).

run(<<Count, Orders:(Count * 4)/binary, Coded/binary>>) ->
    process_flag(trap_exit, true),
    Table = ets:new(?MODULE, [ordered_set, public]),
    {Top, <<>>} = supervisor_of(Coded),
    case start_supervisor(Table, ?TOP, Top) of
        {ok, _} -> give(Orders, Table);
        {error, _} -> ok
    end,
    case alive(Table, ?TOP) of
        %% This process is the supervisor's parent.
        {ok, Pid} -> exit(Pid, shutdown);
        nobody -> ok
    end,
    receive {'EXIT', _, Reason} -> see(Table, <<7, (code_of_end(Reason)), 0>>) end,
    erlang:yield(),
    Seen = [Event || [Event] <- ets:match(Table, {{event, '_'}, '$1'})],
    ets:delete(Table),
    Seen.

%% Gives the orders one after the other, as long as the top supervisor is alive.
give(<<>>, _) ->
    ok;
give(<<Order, A, B, C, Orders/binary>>, Table) ->
    Answer = order(Order, A, B, C, Table),
    erlang:yield(),
    see(Table, <<5, (answer(Answer)), 0>>),
    case alive(Table, ?TOP) of
        {ok, Pid} ->
            children(Pid, Table),
            give(Orders, Table);
        nobody ->
            ok
    end.

order(1, Id, Reason, _, Table) ->
    to(Table, Id, fun(Pid) -> Pid ! {'end', reason(Reason)}, ok end);
order(2, Id, _, _, Table) ->
    to(Table, Id, fun(Pid) -> exit(Pid, kill), ok end);
order(3, Id, Starts, _, Table) ->
    ets:insert(Table, {{fails, Id}, Starts}),
    ok;
order(4, Of, Id, _, Table) ->
    to(Table, Of, fun(Pid) -> supervisor:terminate_child(Pid, Id) end);
order(5, Of, Id, _, Table) ->
    to(Table, Of, fun(Pid) -> supervisor:restart_child(Pid, Id) end);
order(6, Of, Id, _, Table) ->
    to(Table, Of, fun(Pid) -> supervisor:delete_child(Pid, Id) end);
order(7, Of, Id, Restart, Table) ->
    Child = {Id, restart(Restart), infinity, false, worker},
    to(Table, Of, fun(Pid) -> supervisor:start_child(Pid, spec(Child, Table)) end);
order(8, Of, _, _, Table) ->
    to(Table, Of, fun(Pid) -> stranger(Pid) end).

stranger(Pid) ->
    spawn_opt(fun() -> exit(Pid, shutdown) end, [{priority, high}]),
    ok.

to(Table, Id, Does) ->
    case alive(Table, Id) of
        {ok, Pid} -> try Does(Pid) catch exit:_ -> nobody end;
        nobody -> nobody
    end.

alive(Table, Id) ->
    case ets:lookup(Table, {pid, Id}) of
        [{_, Pid}] -> case is_process_alive(Pid) of true -> {ok, Pid}; false -> nobody end;
        [] -> nobody
    end.

%% Reports the children as listed by the supervisors.
children(Supervisor, Table) ->
    lists:foreach(
        fun({Id, Child, Type, _}) ->
            see(Table, <<6, Id, (bool(is_pid(Child)))>>),
            is_pid(Child) andalso Type =:= supervisor andalso children(Child, Table)
        end,
        supervisor:which_children(Supervisor)
    ).

supervisor_of(<<Strategy, Intensity, Policy, Count, Rest/binary>>) ->
    {Children, Others} = children_of(Count, Rest),
    Flags = #{
        strategy => element(Strategy + 1, {one_for_one, one_for_all, rest_for_one}),
        intensity => Intensity,
        period => ?PERIOD,
        auto_shutdown => element(Policy + 1, {never, any_significant, all_significant})
    },
    {{Flags, Children}, Others}.

children_of(0, Rest) ->
    {[], Rest};
children_of(Count, <<Id, Restart, Brutal, Significant, Supervises, Rest/binary>>) ->
    {Kind, Others} =
        case Supervises of
            1 -> supervisor_of(Rest);
            0 -> {worker, Rest}
        end,
    Shutdown = element(Brutal + 1, {infinity, brutal_kill}),
    {Children, Left} = children_of(Count - 1, Others),
    {[{Id, restart(Restart), Shutdown, Significant =:= 1, Kind} | Children], Left}.

spec({Id, Restart, Shutdown, Significant, Kind}, Table) ->
    Common = #{id => Id, restart => Restart, shutdown => Shutdown, significant => Significant},
    case Kind of
        worker -> Common#{start => {?MODULE, start_worker, [Table, Id]}};
        _ -> Common#{start => {?MODULE, start_supervisor, [Table, Id, Kind]}, type => supervisor}
    end.

%% Like supervisor:start_link, with a priority.
start_supervisor(Table, Id, Supervisor) ->
    Arguments = {self, ?MODULE, {Table, Id, Supervisor}},
    gen_server:start_link(supervisor, Arguments, [{spawn_opt, [{priority, high}]}]).

init({Table, Id, {Flags, Children}}) ->
    ets:insert(Table, {{pid, Id}, self()}),
    {ok, {Flags, [spec(Child, Table) || Child <- Children]}}.

start_worker(Table, Id) ->
    case ets:lookup(Table, {fails, Id}) of
        [{_, Left}] when Left > 0 ->
            ets:insert(Table, {{fails, Id}, Left - 1}),
            see(Table, <<2, Id, 0>>),
            {error, refused};
        _ ->
            proc_lib:start_link(?MODULE, worker, [Table, Id], infinity, [{priority, high}])
    end.

worker(Table, Id) ->
    process_flag(trap_exit, true),
    ets:insert(Table, {{pid, Id}, self()}),
    see(Table, <<1, Id, 0>>),
    proc_lib:init_ack({ok, self()}),
    receive
        {'end', Reason} ->
            see(Table, <<4, Id, (code_of_reason(Reason))>>),
            exit(Reason);
        {'EXIT', _, Reason} ->
            see(Table, <<3, Id, (code_of_reason(Reason))>>),
            exit(Reason)
    end.

%% The reason of a supervisor whose first children fail to start contains the child and its reason.
code_of_end({shutdown, {failed_to_start_child, _, _}}) -> code_of_reason({shutdown, x});
code_of_end(Reason) -> code_of_reason(Reason).

see(Table, Event) ->
    ets:insert(Table, {{event, ets:update_counter(Table, events, 1, {events, 0})}, Event}).

answer(ok) -> 0;
answer({ok, _}) -> 0;
answer({error, not_found}) -> 1;
answer({error, running}) -> 2;
answer({error, already_present}) -> 3;
answer({error, {already_started, _}}) -> 4;
answer({error, restarting}) -> 6;
answer({error, _}) -> 5;
answer(nobody) -> 7.

restart(0) -> permanent;
restart(1) -> transient;
restart(2) -> temporary.

