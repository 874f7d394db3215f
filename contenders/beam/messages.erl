%% Messages between processes that live on: ping-pong, throughput, fan-in and thread-ring.
-module(messages).
-export([ping_pong/1, fan_in/2, thread_ring/2]).

ping_pong(N) ->
    Start = erlang:monotonic_time(nanosecond),
    Partner = spawn_link(fun() -> pong(0, 0) end),
    {Sent, Received} = ping(N, Partner, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Partner ! {count, self()},
    receive
        {counted, PartnerSent, PartnerReceived} ->
            #{elapsed_ns => Elapsed, ops => N,
              sent => Sent + PartnerSent, received => Received + PartnerReceived}
    end.

ping(0, _, Sent, Received) -> {Sent, Received};
ping(N, Partner, Sent, Received) ->
    Partner ! {ping, self()},
    receive pong -> ping(N - 1, Partner, Sent + 1, Received + 1) end.

pong(Sent, Received) ->
    receive
        {ping, From} ->
            From ! pong,
            pong(Sent + 1, Received + 1);
        {count, From} ->
            From ! {counted, Sent, Received}
    end.

%% fan-in, and with one sender throughput. Every sender ends by saying how many it sent.
fan_in(Senders, N) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    lists:foreach(
        fun(Share) -> spawn_link(fun() -> send_all(Share, Root, 0) end) end,
        processes:shares(N, Senders)
    ),
    {Received, Sent} = take_all(Senders, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N, sent => Sent, received => Received}.

send_all(0, Root, Sent) -> Root ! {sent, Sent};
send_all(N, Root, Sent) ->
    Root ! N,
    send_all(N - 1, Root, Sent + 1).

take_all(0, Received, Sent) -> {Received, Sent};
take_all(Senders, Received, Sent) ->
    receive
        {sent, Count} -> take_all(Senders - 1, Received, Sent + Count);
        _ -> take_all(Senders, Received + 1, Sent)
    end.

thread_ring(Processes, N) ->
    Root = self(),
    Last = spawn_link(fun() -> receive {next, First} -> pass_on(First, Root, 0, 0) end end),
    First = lists:foldl(
        fun(_, Next) -> spawn_link(fun() -> pass_on(Next, Root, 0, 0) end) end,
        Last,
        lists:seq(2, Processes)
    ),
    Last ! {next, First},
    Start = erlang:monotonic_time(nanosecond),
    First ! N,
    receive home -> ok end,
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    First ! count,
    {Sent, Received} = collect(Processes, 1, 0),
    #{elapsed_ns => Elapsed, ops => N, sent => Sent, received => Received}.

%% The token carries the hops it has left, the one that brought it here included.
pass_on(Next, Root, Sent, Received) ->
    receive
        1 ->
            Root ! home,
            pass_on(Next, Root, Sent, Received + 1);
        Hops when is_integer(Hops) ->
            Next ! Hops - 1,
            pass_on(Next, Root, Sent + 1, Received + 1);
        count ->
            Root ! {counted, Sent, Received},
            Next ! count
    end.

collect(0, Sent, Received) -> {Sent, Received};
collect(Processes, Sent, Received) ->
    receive {counted, S, R} -> collect(Processes - 1, Sent + S, Received + R) end.
