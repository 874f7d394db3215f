#!/usr/bin/env escript
%% -*- erlang -*-
%% Plays programs to OTP's own gen_statem module and prints the trace of each in one line.
%%
%% The module runs on a clock that the driver sets: its abstract code is recompiled with this script's
%% functions in place of `erlang:start_timer/4` and `erlang:cancel_timer/1`. When a timer fires, the
%% driver sends its message. The driver waits for the machine with a system message, which the machine
%% handles when no event is queued.
-mode(compile).
-export([init/1, callback_mode/0, handle_event/4, terminate/3]).
-export([start_timer/4, cancel_timer/1]).

%% Number of events after which the machine stops, so that every program ends.
-define(MOST_EVENTS, 40).

main([]) ->
    logger:set_primary_config(level, none),
    _ = io:setopts([{binary, true}]),
    make_module(),
    [ets:new(Name, [named_table, public, ordered_set]) || Name <- [trace, timers, state]],
    each().

each() ->
    case io:read(standard_io, "") of
        {ok, Program} ->
            io:put_chars([play(Program), $\n]),
            each();
        eof ->
            ok
    end.

make_module() ->
    Chunks = beam_lib:chunks(code:which(gen_statem), [abstract_code]),
    {ok, {_, [{abstract_code, {_, Forms}}]}} = Chunks,
    {ok, fed, Code} = compile:forms([feed(Form) || Form <- Forms], []),
    {module, fed} = code:load_binary(fed, "fed", Code).

feed({attribute, At, module, gen_statem}) -> {attribute, At, module, fed};
feed({atom, At, gen_statem}) -> {atom, At, fed};
feed({call, At, {remote, _, {atom, _, erlang}, {atom, _, Name}}, Arguments})
  when Name =:= start_timer; Name =:= cancel_timer ->
    {call, At, {remote, At, {atom, At, ?MODULE}, {atom, At, Name}}, feed(Arguments)};
feed(Form) when is_tuple(Form) -> list_to_tuple(feed(tuple_to_list(Form)));
feed([Form | Forms]) -> [feed(Form) | feed(Forms)];
feed(Form) -> Form.

%% Timers of the machine.

start_timer(Time, _, Type, _) ->
    Timer = make_ref(),
    ets:insert(timers, {{now_() + Time, Timer}, Type}),
    Timer.

cancel_timer(Timer) ->
    ets:select_delete(timers, [{{{'_', Timer}, '_'}, [], [true]}]) =:= 1.

now_() -> ets:lookup_element(state, now, 2).

%% The driver.

play({Enters, First, Reactions, Entries, Steps}) ->
    [ets:delete_all_objects(Name) || Name <- [trace, timers, state]],
    ets:insert(state, [{now, 0}, {calls, 0}]),
    Arguments = {Enters, First, list_to_tuple(Reactions), list_to_tuple(Entries)},
    {ok, Machine} = fed:start(?MODULE, Arguments, []),
    Trace =
        try
            _ = steps(Steps, Machine) andalso fed:stop(Machine),
            case ets:member(state, lost) of
                true -> ["lost"];
                false -> [What || {_, What} <- ets:tab2list(trace)]
            end
        catch
            throw:tie -> ["tie"]
        end,
    exit(Machine, kill),
    Monitor = monitor(process, Machine),
    receive {'DOWN', Monitor, _, _, _} -> ok end,
    flush(),
    lists:join($\s, Trace).

flush() ->
    receive _ -> flush() after 0 -> ok end.

steps(Steps, Machine) ->
    case {rest(Machine), Steps} of
        {false, _} -> false;
        {true, []} -> true;
        {true, [{held, Acts} | Rest]} ->
            Machine ! {'$gen_cast', hold},
            [act(Act, Machine, true) || Act <- Acts],
            Machine ! go,
            steps(Rest, Machine);
        {true, [Act | Rest]} ->
            act(Act, Machine, false),
            steps(Rest, Machine)
    end.

act({call, Content}, Machine, _) ->
    Number = ets:update_counter(state, calls, 1),
    Machine ! {'$gen_call', {self(), {reply, Number}}, Content};
act({cast, Content}, Machine, _) ->
    Machine ! {'$gen_cast', Content};
act({info, Content}, Machine, _) ->
    Machine ! Content;
act({wait, Seconds}, Machine, Held) ->
    pass(now_() + Seconds * 1000 + 500, Machine, Held).

%% Lets the time pass. A machine that is held gets the messages of its timers without handling them.
pass(Until, Machine, Held) ->
    Due = [Timer || {{At, _}, _} = Timer <- ets:tab2list(timers), At =< Until],
    case Due of
        [{{At, _}, _}, {{At, _}, _} | _] ->
            throw(tie);
        [{{Until, _}, _} | _] ->
            throw(tie);
        [{{At, Timer}, Type} | _] ->
            ets:insert(state, {now, At}),
            ets:delete(timers, {At, Timer}),
            Machine ! {timeout, Timer, Type},
            case Held orelse handles_all(Machine) of
                true -> pass(Until, Machine, Held);
                false -> ok
            end;
        [] ->
            ets:insert(state, {now, Until})
    end.

%% Waits until the machine waits for a message; returns whether it is alive.
handles_all(Machine) ->
    try sys:get_state(Machine, infinity) of
        _ -> true
    catch
        exit:_ -> false
    end.

rest(Machine) ->
    Alive = handles_all(Machine),
    [saw(["reply:", text(Number)]) || Number <- lists:sort(replies())],
    Alive.

replies() ->
    receive {{reply, Number}, _} -> [Number | replies()] after 0 -> [] end.

%% The machine.

init({Enters, First, Reactions, Entries}) ->
    put(enters, Enters),
    put(reactions, Reactions),
    put(entries, Entries),
    put(handled, 0),
    put(timers, 0),
    case First of
        none -> {ok, 0, data};
        Content -> {ok, 0, data, [{next_event, internal, Content}]}
    end.

callback_mode() ->
    case get(enters) of
        true -> [handle_event_function, state_enter];
        false -> handle_event_function
    end.

handle_event(enter, From, State, _) ->
    saw(["enter:", text(From), $:, text(State)]),
    {keep_state_and_data, changes(element(State + 1, get(entries)))};
handle_event(cast, hold, _, _) ->
    receive go -> keep_state_and_data end;
handle_event(info, {timeout, _, _}, _, _) ->
    %% The message of a timer that gen_statem does not know.
    ets:insert(state, {lost, true}),
    keep_state_and_data;
handle_event(Type, Content, State, _) ->
    {Class, Kind} = class(Type),
    saw([text(State), $:, Kind, $:, text(Content)]),
    put(handled, get(handled) + 1),
    case get(handled) > ?MOST_EVENTS of
        true -> saw("limit"), {stop, normal};
        false ->
            Number = (State * 3 + Class) * 4 + Content + 1,
            react(element(Number, get(reactions)), Type, Content)
    end.

class({call, _}) -> {0, "call"};
class(cast) -> {0, "cast"};
class(info) -> {0, "info"};
class(internal) -> {1, "internal"};
class(state_timeout) -> {2, "state"};
class(timeout) -> {2, "event"};
class({timeout, Name}) -> {2, text(Name)}.

react({Target, Postpones, Replies, Events, Changes}, Type, Content) ->
    Answers = case Type of
                  {call, From} when Replies, not Postpones -> [{reply, From, Content}];
                  _ -> []
              end,
    NextEvents = [{next_event, Kind, Next} || {Kind, Next} <- Events],
    Actions = [{postpone, Postpones} | Answers] ++ NextEvents ++ changes(Changes),
    case Target of
        keep -> {keep_state_and_data, Actions};
        repeat -> {repeat_state_and_data, Actions};
        {next, State} -> {next_state, State, data, Actions};
        {stop, Reason} -> {stop_and_reply, Reason, Answers}
    end.

changes(Changes) -> [change(Change) || Change <- Changes].

change({start, Timer, Seconds, Content}) -> {type(Timer), time(Seconds), Content};
change({update, Timer, Content}) -> {type(Timer), update, Content};
change({cancel, Timer}) -> {type(Timer), cancel}.

%% A time that is different for each timer, so that few fire at the same moment.
time(0) -> 0;
time(Seconds) ->
    put(timers, get(timers) + 1),
    Seconds * 1000 + get(timers).

type(state) -> state_timeout;
type(event) -> timeout;
type(Name) -> {timeout, Name}.

terminate(Reason, State, _) ->
    saw(["terminate:", text(Reason), $:, text(State)]).

saw(What) -> ets:insert(trace, {erlang:unique_integer([monotonic]), What}).

text(Term) -> io_lib:format("~p", [Term]).
