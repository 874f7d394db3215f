%% Messages between long-lived processes: ping-pong, throughput, fan-in, fan-out and thread-ring.
-module(messages).
-export([ping_pong/1, fan_in/3, fan_out/2, thread_ring/2]).

%% A message or round trip whose count has these bits clear is timed: one message in 1024, and one
%% round trip in 256.
-define(STAMP_BITS, 1023).
-define(TRIP_BITS, 255).

ping_pong(N) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Partner = spawn_link(fun() -> pong(Root, 0, 0) end),
    {Sent, Received, Times} = ping(N, Partner, 0, 0, []),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Partner ! count,
    receive
        {counted, PartnerSent, PartnerReceived} ->
            (delays:figures(Times))#{elapsed_ns => Elapsed, ops => N,
              sent => Sent + PartnerSent, received => Received + PartnerReceived}
    end.

ping(0, _, Sent, Received, Times) -> {Sent, Received, Times};
ping(N, Partner, Sent, Received, Times) when N band ?TRIP_BITS =:= 0 ->
    Start = delays:now(),
    Partner ! N,
    receive N -> ping(N - 1, Partner, Sent + 1, Received + 1, [delays:now() - Start | Times]) end;
ping(N, Partner, Sent, Received, Times) ->
    Partner ! N,
    receive N -> ping(N - 1, Partner, Sent + 1, Received + 1, Times) end.

%% Sends each number back.
pong(Root, Sent, Received) ->
    receive
        N when is_integer(N) ->
            Root ! N,
            pong(Root, Sent + 1, Received + 1);
        count ->
            Root ! {counted, Sent, Received}
    end.

%% fan-in; throughput is fan-in with one sender. The last message of each sender is the number of
%% messages it sent. Queue is the receiver's message_queue_data.
fan_in(Senders, N, Queue) ->
    process_flag(message_queue_data, Queue),
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    lists:foreach(
        fun(Share) -> spawn_link(fun() -> send_all(Share, Root, 0) end) end,
        processes:shares(N, Senders)
    ),
    {Received, Sent, Times} = take_all(Senders, 0, 0, []),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    (delays:figures(Times))#{elapsed_ns => Elapsed, ops => N, sent => Sent, received => Received}.

send_all(0, Root, Sent) -> Root ! {sent, Sent};
send_all(N, Root, Sent) when N band ?STAMP_BITS =:= 0 ->
    Root ! {at, delays:now()},
    send_all(N - 1, Root, Sent + 1);
send_all(N, Root, Sent) ->
    Root ! N,
    send_all(N - 1, Root, Sent + 1).

take_all(0, Received, Sent, Times) -> {Received, Sent, Times};
take_all(Senders, Received, Sent, Times) ->
    receive
        {at, Start} -> take_all(Senders, Received + 1, Sent, [delays:now() - Start | Times]);
        {sent, Count} -> take_all(Senders - 1, Received, Sent + Count, Times);
        _ -> take_all(Senders, Received + 1, Sent, Times)
    end.

%% Sends N messages to Processes receivers in turn. Each receiver reports when it has received its
%% share.
fan_out(Processes, N) ->
    Root = self(),
    Share = fun(Place) when Place =< N rem Processes -> N div Processes + 1; (_) -> N div Processes end,
    Receivers = [
        spawn_link(fun() -> Root ! ready, take_share(Share(Place), Root, 0) end)
     || Place <- lists:seq(1, Processes)
    ],
    lists:foreach(fun(_) -> receive ready -> ok end end, Receivers),
    Start = erlang:monotonic_time(nanosecond),
    Sent = in_turn(Receivers, Receivers, N, 0),
    Received = lists:foldl(fun(_, Sum) -> receive {took, Count} -> Sum + Count end end, 0, Receivers),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N, sent => Sent, received => Received}.

in_turn(_, _, 0, Sent) -> Sent;
in_turn([], All, Left, Sent) -> in_turn(All, All, Left, Sent);
in_turn([Receiver | Others], All, Left, Sent) ->
    Receiver ! Left,
    in_turn(Others, All, Left - 1, Sent + 1).

take_share(0, Root, Taken) -> Root ! {took, Taken};
take_share(Left, Root, Taken) ->
    receive _ -> take_share(Left - 1, Root, Taken + 1) end.

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

%% The token carries the number of hops left, including the one that delivered it.
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
