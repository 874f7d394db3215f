package contender;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The parameters of one run, complete and in range. */
public final class Params {
    private final String experiment;
    private final Map<String, Long> numbers = new HashMap<>();
    private final Map<String, String> words = new HashMap<>();

    /** An integer parameter with a range, or, if {@code words} is not empty, an enumeration. */
    record Param(String name, long from, long to, List<String> words, String natural) {
        static Param number(String name, long from, long to) {
            return new Param(name, from, to, List.of(), null);
        }

        static Param word(String name, String... words) {
            return new Param(name, 0, 0, List.of(words), null);
        }

        /** Returns the parameter with a default value. */
        Param natural(String value) {
            return new Param(name, from, to, words, value);
        }
    }

    private Params(String experiment) {
        this.experiment = experiment;
    }

    /** Reads and validates the parameters of a request for this experiment. */
    static Params read(String experiment, List<Param> known, Map<?, ?> given) throws Refusal {
        var params = new Params(experiment);
        for (var param : known) {
            params.read(param, given);
        }
        for (var name : given.keySet()) {
            if (known.stream().noneMatch(param -> param.name().equals(name))) {
                var names = known.stream().map(Param::name).toList();
                throw new Refusal(
                        "unknown parameter " + shown(name) + "; it takes " + String.join(", ", names));
            }
        }
        return params;
    }

    private void read(Param param, Map<?, ?> given) throws Refusal {
        boolean there = given.containsKey(param.name());
        var instead = there ? "not " + shown(given.get(param.name())) : "and is missing";
        if (param.words().isEmpty()) {
            var value = there ? given.get(param.name()) : new Json.Number(String.valueOf(param.natural()));
            var number = integer(value);
            if (number == null || number < param.from() || number > param.to()) {
                throw new Refusal("parameter \"%s\" must be an integer from %d to %d, %s"
                        .formatted(param.name(), param.from(), param.to(), instead));
            }
            numbers.put(param.name(), number);
        } else {
            var word = there ? given.get(param.name()) : param.natural();
            if (!(word instanceof String text) || !param.words().contains(text)) {
                throw new Refusal("parameter \"%s\" must be %s, %s"
                        .formatted(param.name(), String.join(" or ", param.words()), instead));
            }
            words.put(param.name(), text);
        }
    }

    /** Returns a value as an integer, or {@code null} if it is not one of 64 bits. */
    static Long integer(Object value) {
        try {
            return value instanceof Json.Number number ? Long.valueOf(number.text()) : null;
        } catch (NumberFormatException error) {
            return null;
        }
    }

    /** Returns a value as JSON, truncated to 60 characters. */
    static String shown(Object value) {
        var text = Json.text(value);
        return text.length() <= 60 ? text : text.substring(0, 60) + "…";
    }

    public String experiment() {
        return experiment;
    }

    /** Adds the seed of the request. */
    Params seeded(long seed) {
        numbers.put("seed", seed);
        return this;
    }

    public long number(String name) {
        return numbers.get(name);
    }

    /** Returns a parameter whose range is within that of {@code int}. */
    public int count(String name) {
        return Math.toIntExact(number(name));
    }

    public String word(String name) {
        return words.get(name);
    }

    /** Returns the values of all enumerations. */
    Map<String, String> words() {
        return words;
    }
}
