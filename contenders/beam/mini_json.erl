%% JSON subset of the contender protocol: objects, strings, integers, arrays, true, false and null.
%% Fractions are not supported: every number of the protocol is an integer.
%%
%% The contenders in Erlang and Elixir use this module, outside every clock. decode/1 returns a map
%% with binary keys, a binary, an integer, a list or an atom; for invalid input it throws
%% {bad_json, Text}. (OTP 27 has a json module; this module also runs on OTP 25 and 26.)
-module(mini_json).
-export([decode/1, encode/1]).

%% Decodes one JSON text, which may be surrounded by whitespace.
decode(Text) ->
    case unicode:characters_to_binary(Text) of
        Text -> ok;
        _ -> wrong("it is not UTF-8")
    end,
    case value(blanks(Text)) of
        {Value, Rest} ->
            case blanks(Rest) of
                <<>> -> Value;
                More -> wrong(["unexpected ", shown(More), " after the end"])
            end
    end.

value(<<"{", Rest/binary>>) -> object(blanks(Rest), #{});
value(<<"[", Rest/binary>>) -> array(blanks(Rest), []);
value(<<"\"", Rest/binary>>) -> string(Rest, <<>>);
value(<<"true", Rest/binary>>) -> {true, Rest};
value(<<"false", Rest/binary>>) -> {false, Rest};
value(<<"null", Rest/binary>>) -> {null, Rest};
value(<<"-", Rest/binary>>) ->
    {N, After} = integer(Rest),
    {-N, After};
value(Text) -> integer(Text).

object(<<"}", Rest/binary>>, Map) when map_size(Map) =:= 0 -> {Map, Rest};
object(<<"\"", Rest/binary>>, Map) ->
    {Key, AfterKey} = string(Rest, <<>>),
    case blanks(AfterKey) of
        <<":", AfterColon/binary>> ->
            {Value, After} = value(blanks(AfterColon)),
            case blanks(After) of
                <<",", More/binary>> -> another(blanks(More), Map#{Key => Value});
                <<"}", End/binary>> -> {Map#{Key => Value}, End};
                Other -> wrong(["expected , or } at ", shown(Other)])
            end;
        Other ->
            wrong(["expected : at ", shown(Other)])
    end;
object(Text, _) -> wrong(["expected a key at ", shown(Text)]).

%% After a comma, another key is mandatory.
another(<<"\"", _/binary>> = Text, Map) -> object(Text, Map);
another(Text, _) -> wrong(["expected a key at ", shown(Text)]).

array(<<"]", Rest/binary>>, []) -> {[], Rest};
array(Text, Before) ->
    {Value, After} = value(Text),
    case blanks(After) of
        <<",", More/binary>> -> array_more(blanks(More), [Value | Before]);
        <<"]", End/binary>> -> {lists:reverse(Before, [Value]), End};
        Other -> wrong(["expected , or ] at ", shown(Other)])
    end.

array_more(<<"]", _/binary>> = Text, _) -> wrong(["expected a value at ", shown(Text)]);
array_more(Text, Before) -> array(Text, Before).

string(<<"\"", Rest/binary>>, Done) -> {Done, Rest};
string(<<"\\u", Hex:4/binary, Rest/binary>>, Done) -> escaped(code(Hex), Rest, Done);
string(<<"\\", C, Rest/binary>>, Done) ->
    case lists:keyfind(C, 1, escapes()) of
        {_, Char} -> string(Rest, <<Done/binary, Char>>);
        false -> wrong("unknown escape in a string")
    end;
string(<<C, Rest/binary>>, Done) when C >= 32 -> string(Rest, <<Done/binary, C>>);
string(_, _) -> wrong("a string without end, or a control character in it").

%% A code point above 16#ffff is written as a surrogate pair of two escapes.
escaped(High, <<"\\u", Hex:4/binary, Rest/binary>>, Done) when High >= 16#d800, High < 16#dc00 ->
    case code(Hex) of
        Low when Low >= 16#dc00, Low < 16#e000 ->
            Char = 16#10000 + ((High - 16#d800) bsl 10) + (Low - 16#dc00),
            string(Rest, <<Done/binary, Char/utf8>>);
        _ -> wrong("half a character in a string")
    end;
escaped(Char, _, _) when Char >= 16#d800, Char < 16#e000 -> wrong("half a character in a string");
escaped(Char, Rest, Done) -> string(Rest, <<Done/binary, Char/utf8>>).

code(Hex) ->
    try binary_to_integer(Hex, 16) of
        Char when Char >= 0 -> Char;
        _ -> wrong("unknown escape in a string")
    catch
        error:badarg -> wrong("unknown escape in a string")
    end.

integer(Text) ->
    case digits(Text, 0) of
        0 -> wrong(["expected a value at ", shown(Text)]);
        Length ->
            <<Digits:Length/binary, Rest/binary>> = Text,
            case {Digits, Rest} of
                {<<"0", _, _/binary>>, _} -> wrong("a number with a leading zero");
                {_, <<C, _/binary>>} when C =:= $.; C =:= $e; C =:= $E ->
                    wrong("a number that is no integer");
                _ when Length > 100 -> wrong("a number that is far too large");
                _ -> {binary_to_integer(Digits), Rest}
            end
    end.

digits(<<C, Rest/binary>>, Length) when C >= $0, C =< $9 -> digits(Rest, Length + 1);
digits(_, Length) -> Length.

blanks(<<C, Rest/binary>>) when C =:= 32; C =:= $\n; C =:= $\r; C =:= $\t -> blanks(Rest);
blanks(Text) -> Text.

%% The input at an error, truncated to 20 characters.
shown(<<>>) -> "the end";
shown(Text) -> string:slice(Text, 0, 20).

wrong(What) -> throw({bad_json, unicode:characters_to_binary(What)}).

%% Encodes maps, binaries, integers, lists and the atoms true, false and null; other atoms become
%% strings. Returns an iolist.
encode(Map) when is_map(Map) ->
    Fields = [[encode(Key), $:, encode(Value)] || {Key, Value} <- maps:to_list(Map)],
    [${, lists:join($,, Fields), $}];
encode(List) when is_list(List) -> [$[, lists:join($,, [encode(Value) || Value <- List]), $]];
encode(N) when is_integer(N) -> integer_to_binary(N);
encode(Word) when Word =:= true; Word =:= false; Word =:= null -> atom_to_binary(Word);
encode(Key) when is_atom(Key) -> encode(atom_to_binary(Key));
encode(Text) when is_binary(Text) -> [$", [char(C) || <<C>> <= Text], $"].

char(C) when C =:= $"; C =:= $\\ -> [$\\, C];
char(C) when C < 32 -> io_lib:format("\\u~4.16.0b", [C]);
char(C) -> C.

escapes() ->
    [{$", $"}, {$\\, $\\}, {$/, $/}, {$b, $\b}, {$f, $\f}, {$n, $\n}, {$r, $\r}, {$t, $\t}].
