%% Codes of names, exit reasons and booleans, for programs and trees.
%%
%% The counterpart is src/code.rs, where the code of a reason is its index.
-module(differential_code).
-export([name/1, code_of_name/1, reason/1, code_of_reason/1, bool/1]).

name(0) -> differential_name_0;
name(1) -> differential_name_1.

code_of_name(differential_name_0) -> 0;
code_of_name(differential_name_1) -> 1.

reason(0) -> normal;
reason(1) -> shutdown;
reason(2) -> {shutdown, x};
reason(3) -> kill;
reason(4) -> killed;
reason(5) -> noproc;
reason(6) -> boom;
reason(7) -> bang.

code_of_reason(normal) -> 0;
code_of_reason(shutdown) -> 1;
code_of_reason({shutdown, x}) -> 2;
code_of_reason(kill) -> 3;
code_of_reason(killed) -> 4;
code_of_reason(noproc) -> 5;
code_of_reason(boom) -> 6;
code_of_reason(bang) -> 7;
code_of_reason({crash, [_ | _]}) -> 8;
code_of_reason(noconnection) -> 9;
%% From processes of purlin, with its representation of reasons.
code_of_reason({shutdown, <<"x">>}) -> 2;
code_of_reason(<<"boom">>) -> 6;
code_of_reason(<<"bang">>) -> 7;
code_of_reason({panic, <<"crash">>, _}) -> 8;
code_of_reason(Other) ->
    %% No program has this reason; the code makes the outcome invalid.
    io:format(standard_error, "differential: an unknown reason ~p~n", [Other]),
    10.

bool(true) -> 1;
bool(false) -> 0.
