%% The child that is restarted in restart: tells that it is there, and ends when it is told to.
-module(crashing_server).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init(Root) ->
    Root ! {initialised, self()},
    {ok, Root}.

handle_call(_, _From, Root) -> {reply, ok, Root}.

handle_cast(crash, Root) -> {stop, crashed, Root}.
