%% Transfers between accounts, each of which waits for the confirmation of a deposit: banking.
-module(banking).
-export([run/3]).

-define(BALANCE, 1000000).
-define(AMOUNTS, 1000).

run(Accounts, N, Reps) -> savina:repeat(Reps, fun() -> bank(Accounts, N) end).

%% The calling process is the teller.
bank(Count, N) ->
    Start = erlang:monotonic_time(nanosecond),
    Pids = [spawn_link(fun() -> account(?BALANCE, 0, 0) end) || _ <- lists:seq(1, Count)],
    Ordered = order(N, savina:stream(0), list_to_tuple(Pids), 0),
    Done = done(N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    {Sum, Sent, Received} = collect(Pids, 0, Ordered, Done),
    #{elapsed_ns => Elapsed, ops => N, sent => Sent, received => Received, sum => Sum}.

%% A destination has a higher number than its source, so accounts never wait for each other in a
%% circle.
order(0, _, _, Sent) -> Sent;
order(N, X, Accounts, Sent) ->
    Count = tuple_size(Accounts),
    ForSource = savina:next(X),
    ForDestination = savina:next(ForSource),
    ForAmount = savina:next(ForDestination),
    Source = savina:below(Count * 4 div 5, ForSource),
    Destination = Source + 1 + savina:below(Count - Source - 1, ForDestination),
    Amount = 1 + savina:below(?AMOUNTS, ForAmount),
    element(Source + 1, Accounts) ! {transfer, Amount, element(Destination + 1, Accounts), self()},
    order(N - 1, ForAmount, Accounts, Sent + 1).

done(0, Received) -> Received;
done(N, Received) -> receive done -> done(N - 1, Received + 1) end.

account(Balance, Sent, Received) ->
    receive
        {transfer, Amount, Destination, Teller} ->
            ok = savina:call(Destination, {deposit, Amount}),
            Teller ! done,
            account(Balance - Amount, Sent + 2, Received + 2);
        {call, From, {deposit, Amount}} ->
            savina:reply(From, ok),
            account(Balance + Amount, Sent + 1, Received + 1);
        {call, From, report} ->
            savina:reply(From, {Balance, Sent, Received})
    end.

collect([], Sum, Sent, Received) -> {Sum, Sent, Received};
collect([Account | Others], Sum, Sent, Received) ->
    {Balance, S, R} = savina:call(Account, report),
    collect(Others, Sum + Balance, Sent + S, Received + R).
