%% Two processes that compute and exchange messages: exchange, message-size and bandwidth.
-module(exchange).
-export([run/1, work/2]).

%% s is the length of the lists, or the atom none for short messages.
run(#{n := N, reps := Reps} = Params) ->
    Total = repeat(Reps, Params, #{elapsed_ns => 0, sent => 0, received => 0, sink => 0, elements => 0}),
    Total#{ops => N * Reps}.

repeat(0, _, Total) -> Total;
repeat(Reps, Params, Total) ->
    Root = self(),
    One = spawn_link(fun() -> side(Root, Params) end),
    Other = spawn_link(fun() -> side(Root, Params) end),
    receive {ready, One} -> ok end,
    receive {ready, Other} -> ok end,
    Start = erlang:monotonic_time(nanosecond),
    One ! {start, Other},
    Other ! {start, One},
    receive {finished, One} -> ok end,
    receive {finished, Other} -> ok end,
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Sum = fun(Key, Value, Sum) -> maps:update_with(Key, fun(Before) -> Before + Value end, Sum) end,
    Sides = [report(One), report(Other), #{elapsed_ns => Elapsed}],
    repeat(Reps - 1, Params, lists:foldl(fun(Side, T) -> maps:fold(Sum, T, Side) end, Total, Sides)).

report(Side) ->
    Side ! report,
    receive {report, Side, Figures} -> Figures end.

%% Body of one of the two processes. The list is built once; the runtime copies it on each send.
side(Root, #{n := N, s := S, pieces := Pieces, work := Work}) ->
    Message = message(S),
    Root ! {ready, self()},
    Partner = receive {start, Pid} -> Pid end,
    {X, Sent, Seen, Last} =
        pieces(Pieces, {N div Pieces, N rem Pieces, Pieces}, 0, {Work, Message, Partner}, 1, 0, 0, none),
    {Received, Newest} = drain(N - Seen, Seen, Last),
    Root ! {finished, self()},
    receive report -> ok end,
    Figures = #{sent => Sent, received => Received, sink => X, elements => Received * size_of(Newest)},
    Root ! {report, self(), Figures}.

message(none) -> none;
message(S) -> [I band 255 || I <- lists:seq(0, S - 1)].

size_of(List) when is_list(List) -> length(List);
size_of(_) -> 0.

%% Sends are spread evenly: after piece I of P, floor(I * N / P) messages have been sent. Each is
%% N div P and Rest is N rem P. Rest accumulates in Carried; whenever Carried reaches P, one more
%% message is sent.
pieces(0, _, _, _, X, Sent, Seen, Last) -> {X, Sent, Seen, Last};
pieces(Left, {Each, Rest, Pieces} = Schedule, Carried, {Work, Message, Partner} = What, X, Sent, Seen, Last) ->
    Worked = work(Work, X),
    {Due, Over} =
        case Carried + Rest of
            Full when Full >= Pieces -> {Each + 1, Full - Pieces};
            Part -> {Each, Part}
        end,
    send(Due, Message, Partner),
    receive
        Newest ->
            pieces(Left - 1, Schedule, Over, What, Worked, Sent + Due, Seen + 1, Newest)
    after 0 ->
        pieces(Left - 1, Schedule, Over, What, Worked, Sent + Due, Seen, Last)
    end.

send(0, _, _) -> ok;
send(Due, none, Partner) ->
    Partner ! Due,
    send(Due - 1, none, Partner);
send(Due, Message, Partner) ->
    Partner ! Message,
    send(Due - 1, Message, Partner).

drain(0, Received, Last) -> {Received, Last};
drain(Left, Received, _) ->
    receive
        Newest -> drain(Left - 1, Received + 1, Newest)
    end.

work(0, X) -> X;
work(Steps, X) -> work(Steps - 1, (X * 20077 + 12345) band 16#7fffffff).
