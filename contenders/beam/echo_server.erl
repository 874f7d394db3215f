%% Server of call, call-deep and dist-call: replies with the argument and counts the calls.
-module(echo_server).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

init([]) -> {ok, 0}.

handle_call({echo, What}, _From, Served) -> {reply, What, Served + 1};
handle_call(count, _From, Served) -> {reply, Served, Served}.

handle_cast(_, Served) -> {noreply, Served}.

%% The end of dist-call.
handle_info({stop, Root}, Served) -> Root ! {taken, Served}, {stop, normal, Served}.
