%% Timers: timers and timer-expiry.
-module(timers).
-export([run/3, expiry/4]).

%% Time in ms of the timers that are cancelled.
-define(SOON, 5000).

-define(RANGE, 16#80000000).

run(Window, N, Seed) ->
    Order = order(Window, Seed),
    Timers = list_to_tuple([set(I) || I <- lists:seq(1, Window)]),
    Start = erlang:monotonic_time(nanosecond),
    {Cancelled, Rest} = pass(Order, Order, Timers, [], N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Alive = [Timer || Timer <- Rest, is_integer(erlang:cancel_timer(Timer))],
    #{elapsed_ns => Elapsed, ops => N, sent => N, received => Cancelled, waiting => length(Alive)}.

set(I) -> erlang:send_after(?SOON, self(), {timeout, I}).

%% Cancels the timers of the last pass in this order, and sets one after each.
pass(Left, _, Timers, Next, 0, Cancelled) ->
    {Cancelled, [element(I, Timers) || I <- Left] ++ Next};
pass([], Order, _, Next, N, Cancelled) ->
    pass(Order, Order, list_to_tuple(lists:reverse(Next)), [], N, Cancelled);
pass([I | Left], Order, Timers, Next, N, Cancelled) ->
    InTime = case erlang:cancel_timer(element(I, Timers)) of false -> 0; _ -> 1 end,
    pass(Left, Order, Timers, [set(N) | Next], N - 1, Cancelled + InTime).

order(Window, Seed) ->
    [I || {_, I} <- lists:sort(lists:zip(draws(Window, Seed), lists:seq(1, Window)))].

%% The first draws of a seed.
draws(Count, Seed) -> draws(Count, Seed rem ?RANGE, []).

draws(0, _, Drawn) -> lists:reverse(Drawn);
draws(Count, Before, Drawn) ->
    X = savina:next(Before),
    draws(Count - 1, X, [X | Drawn]).

%% A timer is set to a whole millisecond of the runtime's clock, so a due time is rounded up.
expiry(N, AfterMs, SpreadMs, Seed) ->
    Drawn = draws(N, Seed),
    First = erlang:monotonic_time(nanosecond) + AfterMs * 1000000,
    lists:foreach(
        fun(X) ->
            Due = First + X * (SpreadMs + 1) div ?RANGE * 1000000,
            erlang:send_after(whole_ms(Due), self(), {expired, Due}, [{abs, true}])
        end,
        Drawn
    ),
    Overdue = case erlang:monotonic_time(nanosecond) > First of true -> 1; false -> 0 end,
    Late = expired(N, SpreadMs > 0, []),
    Elapsed = erlang:monotonic_time(nanosecond) - First,
    Sample = #{elapsed_ns => Elapsed, ops => N, sent => N, received => N, overdue => Overdue},
    maps:merge(Sample, delays:figures(Late)).

%% The runtime's clock is below 0.
whole_ms(Ns) when Ns > 0 -> (Ns + 999999) div 1000000;
whole_ms(Ns) -> Ns div 1000000.

expired(0, _, Late) -> Late;
expired(Left, false, Late) ->
    receive {expired, _} -> expired(Left - 1, false, Late) end;
expired(Left, true, Late) ->
    receive
        {expired, Due} -> expired(Left - 1, true, [erlang:monotonic_time(nanosecond) - Due | Late])
    end.
