#!/usr/bin/env escript
%% Encodes, prints, hashes and compares terms on the BEAM. A request and its answer are one packet each, which contains packets.
%%! -noinput
-mode(compile).

main(_) ->
    Port = open_port({fd, 0, 1}, [{packet, 4}, binary, eof]),
    serve(Port).

serve(Port) ->
    receive
        {Port, {data, <<Kind, Packets/binary>>}} ->
            Terms = [binary_to_term(Packet) || <<Size:32, Packet:Size/binary>> <= Packets],
            port_command(Port, answer(Kind, Terms)),
            serve(Port);
        {Port, eof} ->
            halt()
    end.

%% The OTP release.
answer($v, []) ->
    erlang:system_info(otp_release);
%% For each term: its bytes, its bytes in the format of old releases, its compressed bytes, its three
%% printed forms (the last one with line breaks), and its hash below 2^27 and 2^32 - 1.
answer($t, Terms) ->
    [[packet(term_to_binary(Term, [{minor_version, 2}])),
      packet(term_to_binary(Term, [{minor_version, 0}])),
      packet(term_to_binary(Term, [{compressed, 9}])),
      packet(unicode:characters_to_binary(io_lib:format("~0tp", [Term]))),
      packet(unicode:characters_to_binary(io_lib:format("~tw", [Term]))),
      packet(unicode:characters_to_binary(io_lib:format("~p", [Term]))),
      packet(<<(erlang:phash2(Term)):32, (erlang:phash2(Term, 16#ffffffff)):32>>)] || Term <- Terms];
%% Order of the first term and the second, by value and exactly; then the same for each following pair.
answer($c, Terms) ->
    compare(Terms).

compare([A, B | Terms]) ->
    [if A < B -> $<; A > B -> $>; A == B -> $= end,
     if A =:= B -> $=; true -> $/ end | compare(Terms)];
compare([]) ->
    [].

packet(Bytes) ->
    [<<(byte_size(Bytes)):32>>, Bytes].
