%% Store: a server that keeps values by key, and a log of them on the disk.
%%
%%   {put, Key, Value}   ok, when the value is on the disk
%%   {get, Key}          the value, or undefined
%%   ping                pong
%%
%% A value that was answered with ok is there after a crash of the store, the node or the machine.
-module(store).
-behaviour(gen_server).

-export([start/1, start_link/1]).
-export([init/1, handle_call/3, handle_cast/2]).

start(File) ->
    gen_server:start({local, ?MODULE}, ?MODULE, File, []).

%% For a supervisor.
start_link(File) ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, File, []).

%% A record that a crash has left incomplete at the end of the log is removed.
init(File) ->
    case disk_log:open([{name, ?MODULE}, {file, File}]) of
        {ok, Log} -> {ok, {Log, read(Log, start, #{})}};
        {repaired, Log, _Recovered, _BadBytes} -> {ok, {Log, read(Log, start, #{})}};
        {error, Reason} -> {stop, Reason}
    end.

read(Log, Position, Values) ->
    case disk_log:chunk(Log, Position) of
        eof -> Values;
        {Next, Records} -> read(Log, Next, maps:merge(Values, maps:from_list(Records)))
    end.

handle_call({put, Key, Value}, _From, {Log, Values}) ->
    ok = disk_log:log(Log, {Key, Value}),
    ok = disk_log:sync(Log),
    {reply, ok, {Log, Values#{Key => Value}}};
handle_call({get, Key}, _From, {_Log, Values} = State) ->
    {reply, maps:get(Key, Values, undefined), State};
handle_call(ping, _From, State) ->
    {reply, pong, State}.

handle_cast(_Message, State) ->
    {noreply, State}.
