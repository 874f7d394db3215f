%% How long messages and round trips take, one at a time, beside the time of all of them together.
%%
%% One message in 1024 carries the time at which it is sent; one round trip in 256 is timed. Which one
%% is told by the last bits of a count that runs down anyway.
-module(delays).
-export([now/0, figures/1, percentiles/1]).

%% Nanoseconds of the clock that all processes share.
now() -> erlang:monotonic_time(nanosecond).

%% The median, the 99th percentile and the longest; nothing if nothing was timed.
figures([]) -> #{};
figures(Times) -> percentiles(Times).

percentiles([]) -> #{p50_ns => 0, p99_ns => 0, max_ns => 0};
percentiles(Times) ->
    Sorted = list_to_tuple(lists:sort(Times)),
    At = fun(Percent) -> element(max(1, (tuple_size(Sorted) * Percent + 99) div 100), Sorted) end,
    #{p50_ns => At(50), p99_ns => At(99), max_ns => At(100)}.
