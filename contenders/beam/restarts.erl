%% A supervisor whose only child ends with an error, again and again: restart.
%%
%% The supervisor is OTP's. It goes through all restarts of its period at each restart, and gives up
%% after as many as it was told; here that is all there will be.
-module(restarts).
-behaviour(supervisor).
-export([restart/2, init/1]).

%% Writing about each crash would take longer than the restart.
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
