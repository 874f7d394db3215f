%% Common parts of the Savina programs: calls, draws and repetitions.
%%
%% The draws are those of contenders/protocol/src/savina.
-module(savina).
-export([call/2, reply/2, stream/1, next/1, below/2, repeat/2]).

%% Sends a request and waits for its reply. The receive skips what was queued before, because the
%% reference is new. There is no monitor and no timeout: all processes of a program are linked, and
%% a program ends as a whole if one of them fails.
call(Process, Request) ->
    Reference = make_ref(),
    Process ! {call, {self(), Reference}, Request},
    receive {Reference, Reply} -> Reply end.

reply({Caller, Reference}, Reply) -> Caller ! {Reference, Reply}.

%% Start of the stream of draws with this number.
stream(Number) -> (Number * 1073741789 + 1) band 16#7fffffff.

%% Next position in a stream.
next(X) -> (X * 20077 + 12345) band 16#7fffffff.

%% Draw from 0 to K - 1 at this position.
below(K, X) -> (K * X) bsr 31.

%% Calls the function Reps times and adds up the figures that it returns.
repeat(Reps, Run) -> repeat(Reps - 1, Run, Run()).

repeat(0, _, Total) -> Total;
repeat(Reps, Run, Total) ->
    repeat(Reps - 1, Run, maps:merge_with(fun(_, One, Other) -> One + Other end, Total, Run())).
