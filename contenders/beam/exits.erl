%% Process exits observed through monitors and links: monitor-churn, link-churn and exit-cascade.
-module(exits).
-export([monitor_churn/1, link_churn/1, exit_cascade/2]).

monitor_churn(N) ->
    churn(N, fun monitored/2).

link_churn(N) ->
    process_flag(trap_exit, true),
    churn(N, fun linked/2).

%% Times N rounds. Rounds returns the number of exits with the expected notification.
churn(N, Rounds) ->
    Start = erlang:monotonic_time(nanosecond),
    Received = Rounds(N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N, sent => N, received => Received}.

monitored(0, Received) -> Received;
monitored(N, Received) ->
    {Pid, Monitor} = spawn_monitor(fun() -> ok end),
    receive
        {'DOWN', Monitor, process, Pid, normal} -> monitored(N - 1, Received + 1);
        {'DOWN', _, process, _, _} -> monitored(N - 1, Received)
    end.

linked(0, Received) -> Received;
linked(N, Received) ->
    Pid = spawn_link(fun() -> ok end),
    receive
        {'EXIT', Pid, normal} -> linked(N - 1, Received + 1);
        {'EXIT', _, _} -> linked(N - 1, Received)
    end.

exit_cascade(N, Reps) ->
    {Elapsed, Stood, Gone} = chains(Reps, N, 0, 0, 0),
    #{elapsed_ns => Elapsed, ops => N * Reps, sent => Stood, received => Gone}.

chains(0, _, Elapsed, Stood, Gone) -> {Elapsed, Stood, Gone};
chains(Reps, N, Elapsed, Stood, Gone) ->
    Root = self(),
    First = spawn(fun() -> stand(N, Root) end),
    Last = receive {last, Furthest} -> Furthest end,
    Others = [receive {stands, One} -> One end || _ <- lists:seq(2, N)],
    Monitor = monitor(process, Last),
    %% The monitor signal may be delayed, and signals to different processes are not ordered: the
    %% exit signal could reach Last through the chain first. A reply to a message that is sent after
    %% the monitor signal proves that the monitor is active.
    Last ! {monitored, self()},
    receive monitored -> ok end,
    Start = erlang:monotonic_time(nanosecond),
    exit(First, shutdown),
    Reason = receive {'DOWN', Monitor, process, Last, Why} -> Why end,
    End = erlang:monotonic_time(nanosecond),
    Ended = [Pid || Reason =:= shutdown, Pid <- [Last | Others], not is_process_alive(Pid)],
    chains(Reps - 1, N, Elapsed + End - Start, Stood + length(Others) + 1, Gone + length(Ended)).

%% Member of the chain. Left is the number of members from this one to the last.
stand(1, Root) ->
    Root ! {last, self()},
    receive {monitored, Root} -> Root ! monitored end,
    receive never -> ok end;
stand(Left, Root) ->
    spawn_link(fun() -> stand(Left - 1, Root) end),
    Root ! {stands, self()},
    receive never -> ok end.
