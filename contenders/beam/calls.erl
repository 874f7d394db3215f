%% Cost of a function call and of a message: call-vs-send and tail-call.
-module(calls).
-export([local/1, remote/2, tail_call/2]).

%% Interval in ms at which the watcher process samples the receiver's message queue.
-define(LOOK_EVERY, 5).

tail_call(N, Reps) ->
    Start = erlang:monotonic_time(nanosecond),
    Left = repeat(Reps, N, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N * Reps, sent => 0, received => 0, left => Left}.

repeat(0, _, Left) -> Left;
repeat(Reps, N, Left) -> repeat(Reps - 1, N, Left + count_down(N)).

count_down(0) -> 0;
count_down(N) -> count_down(N - 1).

local(N) ->
    Start = erlang:monotonic_time(nanosecond),
    Left = count_down(N),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    #{elapsed_ns => Elapsed, ops => N - Left, sent => 0, received => 0}.

%% Queue is the receiver's message_queue_data.
remote(N, Queue) ->
    Receiver = spawn_opt(fun() -> drop_all(0) end, [link, {message_queue_data, Queue}]),
    Root = self(),
    Watcher = spawn_link(fun() -> watch(Receiver, Root, 0, 0) end),
    Start = erlang:monotonic_time(nanosecond),
    Sent = send_down(N, Receiver, 0),
    Elapsed = erlang:monotonic_time(nanosecond) - Start,
    Receiver ! {count, self()},
    Watcher ! stop,
    Received = receive {received, Count} -> Count end,
    {Peak, Bytes} = receive {peak, Messages, Memory} -> {Messages, Memory} end,
    #{elapsed_ns => Elapsed, ops => N, sent => Sent, received => Received,
      queue_peak => Peak, queue_peak_bytes => Bytes}.

send_down(0, _, Sent) -> Sent;
send_down(N, Receiver, Sent) ->
    Receiver ! N,
    send_down(N - 1, Receiver, Sent + 1).

drop_all(Count) ->
    receive
        N when is_integer(N) -> drop_all(Count + 1);
        {count, Root} -> Root ! {received, Count}
    end.

%% Memory is recorded only if the message queue is not empty.
watch(Receiver, Root, Peak, Bytes) ->
    receive
        stop -> Root ! {peak, Peak, Bytes}
    after ?LOOK_EVERY ->
        case process_info(Receiver, [message_queue_len, memory]) of
            [{message_queue_len, Waiting}, {memory, Memory}] when Waiting > 0 ->
                watch(Receiver, Root, max(Peak, Waiting), max(Bytes, Memory));
            _ ->
                watch(Receiver, Root, Peak, Bytes)
        end
    end.
