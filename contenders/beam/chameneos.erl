%% Creatures that meet in pairs at a mall: chameneos.
%%
%% The mall answers the first of a pair when the second comes.
-module(chameneos).
-export([run/2]).

run(Creatures, N) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Mall = spawn_link(fun() -> mall(none, N, 0) end),
    lists:foreach(
        fun(I) -> spawn_link(fun() -> creature(colour(I rem 3), Mall, Root, 0) end) end,
        lists:seq(0, Creatures - 1)
    ),
    Received = meetings(Creatures, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Met = savina:call(Mall, report),
    #{elapsed_ns => Elapsed, ops => N, sent => 2 * Met, received => Received}.

colour(0) -> blue;
colour(1) -> red;
colour(2) -> yellow.

creature(Colour, Mall, Root, Meetings) ->
    case savina:call(Mall, {meet, Colour}) of
        closed -> Root ! {meetings, Meetings};
        Other -> creature(complement(Colour, Other), Mall, Root, Meetings + 1)
    end.

%% Own colour if both are equal, otherwise the third colour.
complement(Colour, Colour) -> Colour;
complement(blue, red) -> yellow;
complement(blue, yellow) -> red;
complement(red, blue) -> yellow;
complement(red, yellow) -> blue;
complement(yellow, blue) -> red;
complement(yellow, red) -> blue.

meetings(0, Sum) -> Sum;
meetings(Left, Sum) -> receive {meetings, Meetings} -> meetings(Left - 1, Sum + Meetings) end.

%% First is the first of a pair; Left and Met are the meetings left and the meetings so far.
mall(First, Left, Met) ->
    receive
        {call, From, {meet, _}} when Left =:= 0 ->
            savina:reply(From, closed),
            mall(First, Left, Met);
        {call, From, {meet, Colour}} when First =:= none ->
            mall({From, Colour}, Left, Met);
        {call, From, {meet, Colour}} ->
            {Waiting, Other} = First,
            savina:reply(Waiting, Colour),
            savina:reply(From, Other),
            mall(none, Left - 1, Met + 1);
        {call, From, report} ->
            savina:reply(From, Met)
    end.
