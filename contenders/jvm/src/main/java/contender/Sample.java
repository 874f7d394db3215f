package contender;

import java.util.LinkedHashMap;
import java.util.Map;

/** Result of one run: elapsed time in ns, operations, events sent and received, and additional fields. */
public record Sample(long elapsed, long ops, long sent, long received, Map<String, Long> more) {
    public Sample(long elapsed, long ops, long sent, long received) {
        this(elapsed, ops, sent, received, Map.of());
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
