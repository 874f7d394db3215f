%% Producers and consumers with a manager of a bounded buffer between them: bounded-buffer.
%%
%% The manager answers a producer when there is room, and a consumer when there is an item.
-module(bounded_buffer).
-export([run/1]).

-define(MODULUS_MASK, 16#7fffffff).

%% room is the number of items from which producers wait; due is the number of items that have
%% not been handed out.
-record(buffer, {
    items = queue:new(), size = 0, room, due, producers = queue:new(), consumers = queue:new()
}).

run(#{producers := Producers, consumers := Consumers, capacity := Capacity, cost := Cost, n := N}) ->
    Root = self(),
    Start = erlang:monotonic_time(nanosecond),
    Buffer = #buffer{room = Capacity - Producers, due = Producers * N},
    Manager = spawn_link(fun() -> manage(Buffer) end),
    times(Producers, fun() -> produce(N, 1, Cost, Manager, Root, 0) end),
    times(Consumers, fun() -> consume(Cost, Manager, Root, 0, 0) end),
    {Received, Sink} = consumed(Consumers, 0, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Sent = produced(Producers, 0),
    Manager ! stop,
    #{elapsed_ns => Elapsed, ops => Producers * N, sent => Sent, received => Received, sink => Sink}.

times(0, _) -> ok;
times(N, Fun) ->
    spawn_link(Fun),
    times(N - 1, Fun).

produce(0, _, _, _, Root, Produced) -> Root ! {produced, Produced};
produce(N, X, Cost, Manager, Root, Produced) ->
    Item = exchange:work(Cost, X),
    ok = savina:call(Manager, {put, Item}),
    produce(N - 1, Item, Cost, Manager, Root, Produced + 1).

consume(Cost, Manager, Root, Count, Sum) ->
    case savina:call(Manager, get) of
        {item, X} ->
            consume(Cost, Manager, Root, Count + 1, (Sum + exchange:work(Cost, X)) band ?MODULUS_MASK);
        'end' ->
            Root ! {consumed, Count, Sum}
    end.

consumed(0, Count, Sum) -> {Count, Sum};
consumed(Left, Count, Sum) ->
    receive {consumed, C, S} -> consumed(Left - 1, Count + C, (Sum + S) band ?MODULUS_MASK) end.

produced(0, Count) -> Count;
produced(Left, Count) -> receive {produced, C} -> produced(Left - 1, Count + C) end.

manage(Buffer) ->
    receive
        {call, Producer, {put, Item}} -> manage(put(Item, Producer, Buffer));
        {call, Consumer, get} -> manage(get(Consumer, Buffer));
        stop -> ok
    end.

put(Item, Producer, Buffer) ->
    case store(Item, Buffer) of
        #buffer{size = Size, room = Room} = Stored when Size < Room ->
            savina:reply(Producer, ok),
            Stored;
        #buffer{producers = Producers} = Stored ->
            Stored#buffer{producers = queue:in(Producer, Producers)}
    end.

get(Consumer, #buffer{due = 0} = Buffer) ->
    savina:reply(Consumer, 'end'),
    Buffer;
get(Consumer, #buffer{size = 0, consumers = Consumers} = Buffer) ->
    Buffer#buffer{consumers = queue:in(Consumer, Consumers)};
get(Consumer, #buffer{items = Items, size = Size, due = Due} = Buffer) ->
    {{value, Item}, Rest} = queue:out(Items),
    savina:reply(Consumer, {item, Item}),
    release(Buffer#buffer{items = Rest, size = Size - 1, due = Due - 1}).

%% The item goes to the consumer that waits longest, if any.
store(Item, #buffer{items = Items, size = Size, due = Due, consumers = Consumers} = Buffer) ->
    case queue:out(Consumers) of
        {empty, _} ->
            Buffer#buffer{items = queue:in(Item, Items), size = Size + 1};
        {{value, Consumer}, Rest} ->
            savina:reply(Consumer, {item, Item}),
            end_if_done(Buffer#buffer{due = Due - 1, consumers = Rest})
    end.

end_if_done(#buffer{due = 0, consumers = Consumers} = Buffer) ->
    lists:foreach(fun(Consumer) -> savina:reply(Consumer, 'end') end, queue:to_list(Consumers)),
    Buffer#buffer{consumers = queue:new()};
end_if_done(Buffer) -> Buffer.

release(#buffer{producers = Producers} = Buffer) ->
    case queue:out(Producers) of
        {empty, _} -> Buffer;
        {{value, Producer}, Rest} ->
            savina:reply(Producer, ok),
            Buffer#buffer{producers = Rest}
    end.
