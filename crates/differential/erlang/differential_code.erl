%% Names and exit reasons of programs, as they are encoded and as they are in Erlang.
%%
%% The counterparts are `Name` and `Reason` in src/language.rs.
-module(differential_code).
-export([name/1, number_of_name/1, reason/1, seen_reason/1, release/0, priority_alias/0]).

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

%% The release of this machine.
release() -> list_to_integer(erlang:system_info(otp_release)).

%% A priority alias of the calling process. Before OTP 28, which introduced them, no program uses one.
priority_alias() ->
    case release() >= 28 of
        true -> alias([priority]);
        false -> none
    end.
