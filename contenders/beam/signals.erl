%% Messages and exit signals from many senders to one receiver: signals.
%%
%% The draws, the interval between checks and the limit of signals in flight are those of
%% contenders/protocol/src/signals.rs.
-module(signals).
-export([run/1]).

%% Number of signals between two checks of the clock and of the signals in flight.
-define(LOOK_EVERY, 64).

%% Number of outcomes of a draw; one of them asks for off_heap and one for on_heap.
-define(OUTCOMES, 200000).

%% Indices of the counters that all processes of a run share: signals sent and received. The
%% difference is the number of signals in flight.
-define(SENT, 1).
-define(RECEIVED, 2).

%% Index of the flag that is 1 once the limit of signals in flight is reached: all senders then end.
-define(FULL, 3).

run(#{senders := Senders, ms := Ms, rest_ms := Rest, variant := Queue} = Asked) ->
    Root = self(),
    Counters = atomics:new(3, []),
    Receiver = spawn_opt(
        fun() ->
            process_flag(trap_exit, true),
            Root ! ready,
            take(Senders, Root, Counters, 0, 0, 0, none)
        end,
        [{message_queue_data, Queue}]
    ),
    Numbers = lists:seq(0, Senders - 1),
    Pids = [spawn_link(fun() -> sender(N, Asked, Counters, Receiver, Root) end) || N <- Numbers],
    %% No exit signal may arrive before the receiver traps exits.
    lists:foreach(fun(_) -> receive ready -> ok end end, [Receiver | Pids]),
    erlang:garbage_collect(),
    timer:sleep(Rest),
    Due = erlang:monotonic_time(nanosecond) + Ms * 1000000,
    lists:foreach(fun(Pid) -> Pid ! {start, Due}, erlang:send_after(Ms, Pid, stop) end, Pids),
    Accounts = [receive {sent, Account} -> Account end || _ <- Pids],
    Told = erlang:monotonic_time(nanosecond),
    receive {received, {Messages, Exits, Switches}, LastReceived, Received} -> ok end,
    Sum = fun(Name) -> lists:sum([maps:get(Name, Account) || Account <- Accounts]) end,
    Begun = lists:min([maps:get(begun, Account) || Account <- Accounts]),
    Last =
        case Asked of
            #{mode := send} -> lists:max([maps:get(last, Account) || Account <- Accounts]);
            #{mode := 'receive'} -> LastReceived
        end,
    #{elapsed_ns => Last - Begun, ops => Sum(sent), sent => Sum(sent),
      received => Messages + Exits + Switches,
      messages => Messages, exits => Exits, switches => Switches,
      late => Sum(late), cut => Sum(cut), drain_ns => max(0, Received - Told)}.

sender(Number, #{s := S} = Asked, Counters, Receiver, Root) ->
    List = lists:seq(1, S),
    {Switches, Exits} = bounds(Asked),
    Send = fun
        (0) when Switches > 0 -> Receiver ! off_heap;
        (1) when Switches > 0 -> Receiver ! on_heap;
        (Draw) when Draw < Exits -> exit(Receiver, List);
        (_) -> Receiver ! List
    end,
    Room = maps:get(room, Asked),
    Root ! ready,
    receive {start, Due} -> ok end,
    Begun = erlang:monotonic_time(nanosecond),
    Seed = maps:get(seed, Asked) band 16#7fffffff,
    First = (Seed + Number * 1073741789 + 1) band 16#7fffffff,
    {Sent, {InTime, Looked}, Cut} = send(First, Send, 0, {Counters, Room, Due}, {none, none}),
    Late = case InTime of none -> 0; _ -> Sent - InTime end,
    Last = or_now(Looked),
    Root ! {sent, #{begun => Begun, last => Last, sent => Sent, late => Late, cut => Cut}},
    Receiver ! last.

%% The time of the last signal is that of the last clock reading: after it, the process may have
%% waited long before it saw that no further signal was due.
or_now(none) -> erlang:monotonic_time(nanosecond);
or_now(Looked) -> Looked.

%% A draw below the first bound asks for another message queue, one below the second bound is an
%% exit signal, and any other is a message.
bounds(#{switch := Switch, exit_percent := Percent}) ->
    Switches = 2 * Switch,
    {Switches, Switches + (?OUTCOMES - Switches) * Percent div 100}.

%% Checks for the stop message before each signal.
send(X, Send, Sent, Limits, Seen) ->
    receive
        stop -> {Sent, Seen, 0}
    after 0 ->
        Next = (X * 20077 + 12345) band 16#7fffffff,
        Send((Next * ?OUTCOMES) bsr 31),
        case Sent + 1 of
            Now when Now rem ?LOOK_EVERY =:= 0 -> look(Next, Send, Now, Limits, Seen);
            Now -> send(Next, Send, Now, Limits, Seen)
        end
    end.

look(X, Send, Sent, {Counters, Room, Due} = Limits, {InTime, _}) ->
    Time = erlang:monotonic_time(nanosecond),
    Seen = case InTime =:= none andalso Time > Due of
        true -> {Sent, Time};
        false -> {InTime, Time}
    end,
    All = atomics:add_get(Counters, ?SENT, ?LOOK_EVERY),
    case All - atomics:get(Counters, ?RECEIVED) < Room of
        true -> ok;
        false -> atomics:put(Counters, ?FULL, 1)
    end,
    case atomics:get(Counters, ?FULL) of
        0 -> send(X, Send, Sent, Limits, Seen);
        1 -> {Sent, Seen, 1}
    end.

%% Counts all signals until every sender has sent `last`: exit signals, requests for another queue,
%% and the others, which are messages.
take(0, Root, _, Received, Exits, Switches, Looked) ->
    Counts = {Received - Exits - Switches, Exits, Switches},
    Root ! {received, Counts, or_now(Looked), erlang:monotonic_time(nanosecond)};
take(Sending, Root, Counters, Received, Exits, Switches, Looked) ->
    receive
        List when is_list(List) ->
            counted(Sending, Root, Counters, Received + 1, Exits, Switches, Looked);
        {'EXIT', _, _} ->
            counted(Sending, Root, Counters, Received + 1, Exits + 1, Switches, Looked);
        last ->
            take(Sending - 1, Root, Counters, Received, Exits, Switches, Looked);
        Queue ->
            process_flag(message_queue_data, Queue),
            counted(Sending, Root, Counters, Received + 1, Exits, Switches + 1, Looked)
    end.

counted(Sending, Root, Counters, Received, Exits, Switches, _) when Received rem ?LOOK_EVERY =:= 0 ->
    atomics:put(Counters, ?RECEIVED, Received),
    take(Sending, Root, Counters, Received, Exits, Switches, erlang:monotonic_time(nanosecond));
counted(Sending, Root, Counters, Received, Exits, Switches, Looked) ->
    take(Sending, Root, Counters, Received, Exits, Switches, Looked).
