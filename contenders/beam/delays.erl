%% Latency of single messages and round trips, sampled during a throughput measurement.
%%
%% One message in 1024 carries its send time; one round trip in 256 is timed. The low bits of the
%% loop counter select them.
-module(delays).
-export([now/0, figures/1, percentiles/1]).

%% Monotonic time in nanoseconds; all processes share this clock.
now() -> erlang:monotonic_time(nanosecond).

%% Returns the median, the 90th and 99th percentiles and the maximum; an empty map if nothing was timed.
figures([]) -> #{};
figures(Times) -> percentiles(Times).

percentiles([]) -> #{p50_ns => 0, p90_ns => 0, p99_ns => 0, max_ns => 0};
percentiles(Times) ->
    Sorted = list_to_tuple(lists:sort(Times)),
    At = fun(Percent) -> element(max(1, (tuple_size(Sorted) * Percent + 99) div 100), Sorted) end,
    #{p50_ns => At(50), p90_ns => At(90), p99_ns => At(99), max_ns => At(100)}.
