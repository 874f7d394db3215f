package contender;

import java.util.LinkedHashMap;
import java.util.Map;

/** Result of one run: elapsed time in ns, operations, events sent and received, and additional fields. */
public record Sample(long elapsed, long ops, long sent, long received, Map<String, Long> more) {
    public Sample(long elapsed, long ops, long sent, long received) {
        this(elapsed, ops, sent, received, Map.of());
    }

    /** Runs as many repetitions as requested and returns the totals. */
    public static Sample repeated(Params params, Program.Run run) throws Exception {
        var total = run.run(params);
        for (long left = params.number("reps") - 1; left > 0; left--) {
            total = total.plus(run.run(params));
        }
        return total;
    }

    private Sample plus(Sample other) {
        var sums = new LinkedHashMap<>(more);
        other.more.forEach((name, value) -> sums.merge(name, value, Long::sum));
        return new Sample(
                elapsed + other.elapsed, ops + other.ops, sent + other.sent, received + other.received, sums);
    }

    /** Returns this sample with an additional field. */
    public Sample with(String name, long value) {
        return with(Map.of(name, value));
    }

    /** Returns this sample with additional fields. */
    public Sample with(Map<String, Long> fields) {
        var all = new LinkedHashMap<>(more);
        all.putAll(fields);
        return new Sample(elapsed, ops, sent, received, all);
    }

    Map<String, Object> answer() {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("elapsed_ns", elapsed);
        answer.put("ops", ops);
        answer.put("sent", sent);
        answer.put("received", received);
        answer.putAll(more);
        return answer;
    }
}
