%% Child of the supervisor in restart: reports its start to the root and crashes on request.
-module(crashing_server).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init(Root) ->
    Root ! {initialised, self()},
    {ok, Root}.

handle_call(_, _From, Root) -> {reply, ok, Root}.

handle_cast(crash, Root) -> {stop, crashed, Root}.
