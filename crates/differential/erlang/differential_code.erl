%% The codes of names, reasons and truth, of programs and of trees.
%%
%% Its other half is src/code.rs, where a reason is known by its place.
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
%% Of processes of purlin's, as it tells reasons of its own.
code_of_reason({shutdown, <<"x">>}) -> 2;
code_of_reason(<<"boom">>) -> 6;
code_of_reason(<<"bang">>) -> 7;
code_of_reason({panic, <<"crash">>, _}) -> 8;
code_of_reason(Other) ->
    %% No program has it; the code says so to whoever reads it.
    io:format(standard_error, "differential: an unknown reason ~p~n", [Other]),
    10.

bool(true) -> 1;
bool(false) -> 0.
