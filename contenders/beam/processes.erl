%% Process creation: spawn-chain, serial-spawn, fork-join and skynet.
-module(processes).
-export([spawn_chain/2, serial_spawn/2, fork_join/2, skynet/1, shares/2]).

-define(CHILDREN, 10).

spawn_chain(N, Reps) ->
    Start = erlang:monotonic_time(nanosecond),
    {Sent, Received} = chains(Reps, N, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N * Reps, sent => Sent, received => Received}.

chains(0, _, Sent, Received) -> {Sent, Received};
chains(Reps, N, Sent, Received) ->
    chain(N, 0, self()),
    receive {ran, Ran} -> chains(Reps - 1, N, Sent + N, Received + Ran) end.

%% Spawns a process that spawns the next one and exits; the last one reports how many ran.
chain(Left, Ran, Root) -> spawn(fun() -> next(Left, Ran + 1, Root) end).

next(1, Ran, Root) -> Root ! {ran, Ran};
next(Left, Ran, Root) -> chain(Left - 1, Ran, Root).

serial_spawn(M, Total) ->
    Lengths = shares(Total, M),
    Start = erlang:monotonic_time(nanosecond),
    lists:foreach(fun(Length) -> chain(Length, 0, self()) end, Lengths),
    Received = gather(M, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => Total, sent => lists:sum(Lengths), received => Received}.

gather(0, Sum) -> Sum;
gather(M, Sum) -> receive {ran, Ran} -> gather(M - 1, Sum + Ran) end.

%% WHY off_heap: with the queue on the heap each garbage collection of the root goes through all
%% reports that wait there. Measured with 100 000 processes: 13 µs per process in place of 1.1.
fork_join(N, Variant) ->
    process_flag(message_queue_data, off_heap),
    fork_and_join(N, Variant).

fork_and_join(N, alive) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Children = fork_waiting(N, Root, []),
    lists:foreach(fun(Child) -> Child ! go end, Children),
    Received = join(N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N, sent => length(Children), received => Received};
fork_and_join(N, ending) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Sent = fork(N, Root, 0),
    Received = join(N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N, sent => Sent, received => Received}.

fork(0, _, Sent) -> Sent;
fork(N, Root, Sent) ->
    spawn(fun() -> Root ! N end),
    fork(N - 1, Root, Sent + 1).

%% Each child waits until all are spawned.
fork_waiting(0, _, Children) -> Children;
fork_waiting(N, Root, Children) ->
    Child = spawn(fun() -> receive go -> Root ! N end end),
    fork_waiting(N - 1, Root, [Child | Children]).

join(0, Received) -> Received;
join(N, Received) -> receive _ -> join(N - 1, Received + 1) end.

skynet(Leaves) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    spawn(fun() -> node(0, Leaves, Root) end),
    {Sum, Received} = receive {sum, S, L} -> {S, L} end,
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => Leaves, sent => Leaves, received => Received, sum => Sum}.

%% Tree node over Size leaves, starting with leaf number First.
node(First, 1, Parent) -> Parent ! {sum, First, 1};
node(First, Size, Parent) ->
    Each = Size div ?CHILDREN,
    children(?CHILDREN, First, Each, self()),
    add_up(?CHILDREN, 0, 0, Parent).

children(0, _, _, _) -> ok;
children(Left, First, Each, Me) ->
    spawn(fun() -> node(First, Each, Me) end),
    children(Left - 1, First + Each, Each, Me).

add_up(0, Sum, Leaves, Parent) -> Parent ! {sum, Sum, Leaves};
add_up(Left, Sum, Leaves, Parent) ->
    receive {sum, S, L} -> add_up(Left - 1, Sum + S, Leaves + L, Parent) end.

%% Divides Total into Parts shares; the first share also gets the remainder.
shares(Total, Parts) ->
    Each = Total div Parts,
    [Each + Total rem Parts | lists:duplicate(Parts - 1, Each)].
