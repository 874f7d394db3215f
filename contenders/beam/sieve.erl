%% Chain of filters that find the primes: sieve.
%%
%% A filter's queue is off_heap, as the runtime's documentation advises for a queue that may become
%% long: the producer is faster than the filters, and none of them waits.
-module(sieve).
-export([run/3]).

run(N, Local, Reps) -> savina:repeat(Reps, fun() -> primes(N, Local) end).

primes(N, Local) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    First = new_filter(2, Local, 0, Root),
    spawn_link(fun() -> produce(3, N, First, Root, 0) end),
    {Primes, Ended} = reports(),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Sent = receive {produced, Produced} -> Produced end,
    #{elapsed_ns => Elapsed, ops => (N - 1) div 2, sent => Sent, received => Ended, primes => Primes}.

produce(Number, N, First, Root, Sent) when Number > N ->
    First ! {'end', 1},
    Root ! {produced, Sent};
produce(Number, N, First, Root, Sent) ->
    First ! Number,
    produce(Number + 2, N, First, Root, Sent + 1).

%% Reports of all filters; the last one tells how many there are.
reports() ->
    Filters = receive {filters, Count} -> Count end,
    reports(Filters, 0, 0).

reports(0, Primes, Ended) -> {Primes, Ended};
reports(Left, Primes, Ended) ->
    receive {filter, P, E} -> reports(Left - 1, Primes + P, Ended + E) end.

%% Ended is 1 if the prime is a candidate, and 0 for the first filter's.
new_filter(Prime, Local, Ended, Root) ->
    Options = [link, {message_queue_data, off_heap}],
    spawn_opt(fun() -> filter([Prime], [], 1, Local, none, Ended, Root) end, Options).

%% Primes are in ascending order, and New are later ones, the latest first: to append each would copy
%% the list for each. Ended is the number of candidates that were dropped or kept here.
filter(Primes, New, Count, Local, Next, Ended, Root) ->
    receive
        {'end', Place} ->
            Root ! {filter, Count, Ended},
            case Next of
                none -> Root ! {filters, Place};
                _ -> Next ! {'end', Place + 1}
            end;
        Number ->
            case divides(Primes, Number) orelse divides(New, Number) of
                true ->
                    filter(Primes, New, Count, Local, Next, Ended + 1, Root);
                false when Next =/= none ->
                    Next ! Number,
                    filter(Primes, New, Count, Local, Next, Ended, Root);
                false when Count < Local, Count rem 32 =:= 0 ->
                    All = Primes ++ lists:reverse(New, [Number]),
                    filter(All, [], Count + 1, Local, Next, Ended + 1, Root);
                false when Count < Local ->
                    filter(Primes, [Number | New], Count + 1, Local, Next, Ended + 1, Root);
                false ->
                    Filter = new_filter(Number, Local, 1, Root),
                    filter(Primes, New, Count, Local, Filter, Ended, Root)
            end
    end.

divides([], _) -> false;
divides([Prime | _], Number) when Number rem Prime =:= 0 -> true;
divides([_ | Primes], Number) -> divides(Primes, Number).
