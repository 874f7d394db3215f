%% Processes that ping each other at random: big.
-module(big).
-export([run/2]).

run(Processes, N) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Pids = [spawn_link(fun() -> member(I, N, Root) end) || I <- lists:seq(0, Processes - 1)],
    Members = list_to_tuple(Pids),
    lists:foreach(fun(Pid) -> Pid ! {members, Members} end, Pids),
    lists:foreach(fun(_) -> receive finished -> ok end end, Pids),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    lists:foreach(fun(Pid) -> Pid ! report end, Pids),
    {Sent, Received} = collect(Processes, 0, 0),
    #{elapsed_ns => Elapsed, ops => Processes * N, sent => Sent, received => Received}.

member(I, N, Root) ->
    Members = receive {members, All} -> All end,
    go_on(N, savina:stream(I), Members, Root, 0, 0).

%% Pings another member, or reports that none is left to ping.
go_on(0, X, Members, Root, Sent, Received) ->
    Root ! finished,
    answer(0, X, Members, Root, Sent, Received);
go_on(Left, X, Members, Root, Sent, Received) ->
    Next = savina:next(X),
    element(savina:below(tuple_size(Members), Next) + 1, Members) ! {ping, self()},
    answer(Left, Next, Members, Root, Sent + 1, Received).

answer(Left, X, Members, Root, Sent, Received) ->
    receive
        {ping, From} ->
            From ! pong,
            answer(Left, X, Members, Root, Sent + 1, Received + 1);
        pong ->
            go_on(Left - 1, X, Members, Root, Sent, Received + 1);
        report ->
            Root ! {report, Sent, Received}
    end.

collect(0, Sent, Received) -> {Sent, Received};
collect(Left, Sent, Received) ->
    receive {report, S, R} -> collect(Left - 1, Sent + S, Received + R) end.
