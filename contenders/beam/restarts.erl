%% Supervisor that restarts its only child after each of many crashes: restart.
%%
%% The supervisor is OTP's. On each restart it traverses the list of all restarts within the period,
%% and it gives up beyond the intensity. The intensity here is the number of crashes, so it never
%% gives up.
-module(restarts).
-behaviour(supervisor).
-export([restart/2, init/1]).

%% Logging is disabled, because logging a crash takes longer than the restart.
restart(N, Reps) ->
    ok = logger:set_module_level([supervisor, gen_server, proc_lib], none),
    try supervisors(Reps, N, 0, 0, 0) of
        {Elapsed, Received, Alive} ->
            #{elapsed_ns => Elapsed, ops => N * Reps, sent => N * Reps, received => Received, alive => Alive}
    after
        logger:unset_module_level([supervisor, gen_server, proc_lib])
    end.

supervisors(0, _, Elapsed, Received, Alive) -> {Elapsed, Received, Alive};
supervisors(Reps, N, Elapsed, Received, Alive) ->
    {ok, Supervisor} = supervisor:start_link(?MODULE, {self(), N}),
    First = receive {initialised, Pid} -> Pid end,
    Start = erlang:monotonic_time(nanosecond),
    Restarted = crash(N, First, 0),
    End = erlang:monotonic_time(nanosecond),
    Active = proplists:get_value(active, supervisor:count_children(Supervisor)),
    ok = gen_server:stop(Supervisor),
    supervisors(Reps - 1, N, Elapsed + End - Start, Received + Restarted, Alive + Active).

crash(0, _, Restarted) -> Restarted;
crash(N, Child, Restarted) ->
    ok = gen_server:cast(Child, crash),
    receive
        {initialised, Child} -> crash(N - 1, Child, Restarted);
        {initialised, Next} -> crash(N - 1, Next, Restarted + 1)
    end.

init({Root, Intensity}) ->
    Child = #{id => child, start => {gen_server, start_link, [crashing_server, Root, []]}},
    {ok, {#{strategy => one_for_one, intensity => Intensity, period => 1}, [Child]}}.
