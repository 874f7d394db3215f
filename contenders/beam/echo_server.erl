%% Server of call and call-deep: replies with the argument and counts the calls.
-module(echo_server).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init([]) -> {ok, 0}.

handle_call({echo, What}, _From, Served) -> {reply, What, Served + 1};
handle_call(count, _From, Served) -> {reply, Served, Served}.

handle_cast(_, Served) -> {noreply, Served}.
