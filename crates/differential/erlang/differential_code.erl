%% Names and exit reasons of programs, as they are encoded and as they are in Erlang.
%%
%% The counterparts are `Name` and `Reason` in src/language.rs.
-module(differential_code).
-export([name/1, number_of_name/1, reason/1, seen_reason/1]).

name(0) -> differential_name_0;
name(1) -> differential_name_1.

number_of_name(differential_name_0) -> 0;
number_of_name(differential_name_1) -> 1.

reason(shutdown_with) -> {shutdown, x};
reason(Reason) -> Reason.

seen_reason({shutdown, x}) -> shutdown_with;
seen_reason({crash, [_ | _]}) -> crash;
%% From processes of purlin, with its representation of reasons.
seen_reason({shutdown, <<"x">>}) -> shutdown_with;
seen_reason(<<"boom">>) -> boom;
seen_reason(<<"bang">>) -> bang;
seen_reason({panic, <<"crash">>, _}) -> crash;
seen_reason(Reason) ->
    case lists:member(Reason, [normal, shutdown, kill, killed, noproc, boom, bang, noconnection]) of
        true ->
            Reason;
        false ->
            %% No program has this reason; it makes the outcome invalid.
            io:format(standard_error, "differential: an unknown reason ~p~n", [Reason]),
            other
    end.
