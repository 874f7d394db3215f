package contender;

import contender.Params.Param;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Experiments of the protocol that are offered on the JVM, their parameters and the ranges of the parameters. */
final class Experiments {
    private static final long COUNT_MAX = 1_000_000_000_000L;
    private static final long PROCESSES_MAX = 100_000_000;

    private static final Param COUNT = Param.number("n", 0, COUNT_MAX);
    private static final Param ONE_OR_MORE = Param.number("n", 1, COUNT_MAX);
    private static final Param PROCESSES = Param.number("n", 0, PROCESSES_MAX);
    private static final Param REPS = Param.number("reps", 1, 1_000_000).natural("1");
    private static final long TIMERS_MAX = 10_000_000;
    private static final long MS_MAX = 600_000;
    private static final long CROWD_MAX = 100_000;
    private static final long EACH_MAX = 1_000_000;
    private static final Param OPERATIONS = Param.number("n", 0, 1_000_000_000);

    private static final List<Param> EXCHANGE =
            List.of(COUNT, Param.number("pieces", 1, COUNT_MAX), Param.number("work", 0, COUNT_MAX), REPS);
    private static final List<Param> PAYLOAD =
            Stream.concat(Stream.of(Param.number("s", 0, 1_000_000)), EXCHANGE.stream()).toList();

    private static final Map<String, List<Param>> PARAMS = new LinkedHashMap<>();

    static {
        PARAMS.put("call-vs-send", List.of(Param.word("mode", "local", "remote"), COUNT));
        PARAMS.put("tail-call", List.of(COUNT, REPS));
        PARAMS.put("spawn-chain", List.of(ONE_OR_MORE, REPS));
        PARAMS.put("exchange", EXCHANGE);
        PARAMS.put("message-size", PAYLOAD);
        PARAMS.put("bandwidth", PAYLOAD);
        PARAMS.put("message-moved", PAYLOAD);
        PARAMS.put("serial-spawn", List.of(many("m"), Param.number("total", 1, COUNT_MAX)));
        PARAMS.put("ping-pong", List.of(COUNT));
        PARAMS.put("throughput", List.of(COUNT));
        PARAMS.put("fan-in", List.of(many("senders"), COUNT));
        PARAMS.put("thread-ring", List.of(many("processes"), ONE_OR_MORE));
        PARAMS.put("fork-join", List.of(PROCESSES));
        PARAMS.put("skynet", List.of(many("leaves")));
        PARAMS.put("fan-out", List.of(many("processes"), COUNT));
        PARAMS.put("call", List.of(COUNT));
        PARAMS.put("timers", List.of(Param.number("window", 1, TIMERS_MAX), COUNT));
        PARAMS.put(
                "timer-expiry",
                List.of(
                        Param.number("n", 1, TIMERS_MAX),
                        Param.number("after_ms", 0, MS_MAX),
                        Param.number("spread_ms", 0, MS_MAX)));
        PARAMS.put("idle-memory", List.of(PROCESSES));
        PARAMS.put(
                "hog",
                List.of(
                        Param.word("loop", "open", "closed"),
                        Param.number("hogs", 0, 1000),
                        Param.number("ms", 1, MS_MAX)));
        PARAMS.put("monitor-churn", List.of(COUNT));
        PARAMS.put("restart", List.of(Param.number("n", 0, 1_000_000), REPS));
        PARAMS.put("banking", List.of(Param.number("accounts", 2, CROWD_MAX), OPERATIONS, REPS));
        PARAMS.put(
                "bounded-buffer",
                List.of(
                        group("producers", 1),
                        group("consumers", 1),
                        Param.number("capacity", 2, 1_000_000),
                        Param.number("cost", 0, 1_000_000),
                        each("n")));
        PARAMS.put("chameneos", List.of(Param.number("creatures", 2, CROWD_MAX), OPERATIONS));
        PARAMS.put("dictionary", List.of(group("workers", 1), Param.number("writes", 0, 100), each("n")));
        PARAMS.put("logistic-map", List.of(group("series", 1), each("terms"), REPS));
        PARAMS.put("philosophers", List.of(group("philosophers", 2), each("n")));
        PARAMS.put("sieve", List.of(Param.number("n", 2, 10_000_000), Param.number("local", 1, EACH_MAX), REPS));
        PARAMS.put("big", List.of(Param.number("processes", 1, CROWD_MAX), OPERATIONS));
        PARAMS.put("spread", List.of(group("processes", 1), each("n"), Param.number("us", 1, 1_000_000)));
    }

    private Experiments() {}

    private static Param many(String name) {
        return Param.number(name, 1, PROCESSES_MAX);
    }

    /** Returns the parameter for the number of processes that share another one. */
    private static Param group(String name, long from) {
        return Param.number(name, from, 10_000);
    }

    /** Returns the parameter for the number of operations of each process of a group. */
    private static Param each(String name) {
        return Param.number(name, 0, EACH_MAX);
    }

    /** Returns the experiments among these names, in the order of the protocol. */
    static List<String> among(Set<String> names) {
        return PARAMS.keySet().stream().filter(names::contains).toList();
    }

    /** Returns the validated parameters of a run of this experiment. */
    static Params read(String experiment, Map<?, ?> given) throws Refusal {
        try {
            var params = Params.read(experiment, PARAMS.get(experiment), given);
            check(experiment, params);
            return params;
        } catch (Refusal refusal) {
            throw new Refusal(experiment + ": " + refusal.getMessage());
        }
    }

    /** Checks constraints that a range cannot express. */
    private static void check(String experiment, Params params) throws Refusal {
        switch (experiment) {
            case "serial-spawn" -> {
                if (params.number("m") > params.number("total")) {
                    throw new Refusal("m is %d, more than the total of %d"
                            .formatted(params.number("m"), params.number("total")));
                }
            }
            case "skynet" -> {
                if (!isPowerOfTen(params.number("leaves"))) {
                    throw new Refusal("leaves is %d, not a power of ten".formatted(params.number("leaves")));
                }
            }
            case "bounded-buffer" -> {
                if (params.number("capacity") <= params.number("producers")) {
                    throw new Refusal("capacity is %d, not more than the %d producers"
                            .formatted(params.number("capacity"), params.number("producers")));
                }
            }
            case "message-size", "bandwidth", "message-moved" -> {
                long s = params.number("s");
                if (s > 0 && 2 * params.number("n") * params.number("reps") > Long.MAX_VALUE / s) {
                    throw new Refusal("2·n·s·reps elements are more than can be counted; lower one of them");
                }
            }
            default -> {}
        }
    }

    private static boolean isPowerOfTen(long number) {
        while (number % 10 == 0) {
            number /= 10;
        }
        return number == 1;
    }
}
