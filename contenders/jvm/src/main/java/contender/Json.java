package contender;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON parser and writer. A value is a {@code Map}, a {@code List}, a {@code String}, a {@code Boolean}, a {@link
 * Number} or {@code null}; the writer also accepts a {@code Long}.
 */
final class Json {
    /** Maximum nesting of a value. */
    private static final int DEPTH = 32;

    private final String text;
    private int at;

    /** A number as it was written. */
    record Number(String text) {}

    private Json(String text) {
        this.text = text;
    }

    /** Parses a text that holds one value. */
    static Object parse(String text) throws Refusal {
        var json = new Json(text);
        var value = json.value(0);
        json.blanks();
        if (json.at < text.length()) {
            throw json.wrong("the end of the line");
        }
        return value;
    }

    private Object value(int depth) throws Refusal {
        blanks();
        if (depth > DEPTH) {
            throw new Refusal("the JSON is nested more than " + DEPTH + " levels deep");
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> list(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) throws Refusal {
        var object = new LinkedHashMap<String, Object>();
        at++;
        blanks();
        if (peek() == '}') {
            at++;
            return object;
        }
        while (true) {
            blanks();
            if (peek() != '"') {
                throw wrong("a name");
            }
            var name = string();
            blanks();
            expect(':');
            object.put(name, value(depth + 1));
            blanks();
            if (peek() == '}') {
                at++;
                return object;
            }
            expect(',');
        }
    }

    private List<Object> list(int depth) throws Refusal {
        var list = new ArrayList<Object>();
        at++;
        blanks();
        if (peek() == ']') {
            at++;
            return list;
        }
        while (true) {
            list.add(value(depth + 1));
            blanks();
            if (peek() == ']') {
                at++;
                return list;
            }
            expect(',');
        }
    }

    private String string() throws Refusal {
        var string = new StringBuilder();
        at++;
        while (peek() != '"') {
            var sign = text.charAt(at++);
            if (sign < ' ') {
                at--;
                throw wrong("an escaped control character");
            }
            string.append(sign == '\\' ? escaped() : sign);
        }
        at++;
        return string.toString();
    }

    private char escaped() throws Refusal {
        var sign = peek();
        at++;
        return switch (sign) {
            case '"', '\\', '/' -> sign;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                int code = 0;
                for (int i = 0; i < 4; i++) {
                    int digit = Character.digit(peek(), 16);
                    if (digit < 0) {
                        throw wrong("four hexadecimal digits");
                    }
                    code = 16 * code + digit;
                    at++;
                }
                yield (char) code;
            }
            default -> {
                at--;
                throw wrong("an escape sequence");
            }
        };
    }

    private Object word(String word, Object value) throws Refusal {
        if (!text.startsWith(word, at)) {
            throw wrong("a value");
        }
        at += word.length();
        return value;
    }

    private Number number() throws Refusal {
        int start = at;
        skip('-');
        if (!skip('0')) {
            digits();
        }
        if (skip('.')) {
            digits();
        }
        if (skip('e') || skip('E')) {
            if (!skip('+')) {
                skip('-');
            }
            digits();
        }
        return new Number(text.substring(start, at));
    }

    private void digits() throws Refusal {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == start) {
            throw wrong("a value");
        }
    }

    private boolean skip(char sign) {
        boolean found = at < text.length() && text.charAt(at) == sign;
        at += found ? 1 : 0;
        return found;
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private void expect(char sign) throws Refusal {
        if (peek() != sign) {
            throw wrong("'" + sign + "'");
        }
        at++;
    }

    private char peek() throws Refusal {
        if (at >= text.length()) {
            throw new Refusal("the JSON ends too early");
        }
        return text.charAt(at);
    }

    private Refusal wrong(String expected) {
        return new Refusal("not JSON: expected " + expected + " at character " + (at + 1));
    }

    /** Returns a value as JSON, in one line. */
    static String text(Object value) {
        var text = new StringBuilder();
        write(value, text);
        return text.toString();
    }

    private static void write(Object value, StringBuilder to) {
        switch (value) {
            case Map<?, ?> object -> {
                var before = '{';
                for (var entry : object.entrySet()) {
                    to.append(before);
                    write(entry.getKey(), to);
                    to.append(':');
                    write(entry.getValue(), to);
                    before = ',';
                }
                to.append(object.isEmpty() ? "{}" : "}");
            }
            case List<?> list -> {
                var before = '[';
                for (var element : list) {
                    to.append(before);
                    write(element, to);
                    before = ',';
                }
                to.append(list.isEmpty() ? "[]" : "]");
            }
            case String string -> quote(string, to);
            case Number number -> to.append(number.text());
            case null, default -> to.append(value);
        }
    }

    private static void quote(String string, StringBuilder to) {
        to.append('"');
        for (int i = 0; i < string.length(); i++) {
            var sign = string.charAt(i);
            // WHY surrogates: a lone one cannot be written as UTF-8.
            if (sign < ' ' || Character.isSurrogate(sign)) {
                to.append(String.format("\\u%04x", (int) sign));
            } else if (sign == '"' || sign == '\\') {
                to.append('\\').append(sign);
            } else {
                to.append(sign);
            }
        }
        to.append('"');
    }
}
