package contender;

import java.util.Arrays;
import java.util.Map;

/**
 * Latency of single messages and round trips, sampled during a throughput measurement. Used by one thread at a time.
 */
public final class Delays {
    /** One message in this many carries its send time. */
    private static final int STAMP_EVERY = 1024;

    /** One round trip in this many is timed. */
    private static final int TRIP_EVERY = 256;

    private long[] times = new long[64];
    private int count;
    private long start;

    /** Returns what the message with this number carries: the time, or 0 if the message is not timed. */
    public static long stamp(long message) {
        return message % STAMP_EVERY == 0 ? now() : 0;
    }

    // WHY: `nanoTime` may be negative or 0, which means "not timed" in a message.
    private static long now() {
        return System.nanoTime() | 1;
    }

    /** Records the receipt of a message that carries this stamp. */
    public void received(long stamp) {
        if (stamp != 0) {
            add(now() - stamp);
        }
    }

    /** Starts to time the round trip with this number, if it is to be timed. */
    public void start(long round) {
        if (round % TRIP_EVERY == 0) {
            start = now();
        }
    }

    /** Records the end of the round trip with this number. */
    public void back(long round) {
        if (round % TRIP_EVERY == 0) {
            add(now() - start);
        }
    }

    /** Records a latency in ns. */
    public void add(long time) {
        if (count == times.length) {
            times = Arrays.copyOf(times, 2 * count);
        }
        times[count++] = time;
    }

    /** Returns the number of recorded latencies. */
    public int count() {
        return count;
    }

    /** Returns the percentiles of the protocol; no fields if nothing was timed. */
    public Map<String, Long> fields() {
        return count == 0 ? Map.of() : percentiles();
    }

    /** Returns the percentiles of the protocol, 0 if nothing was timed. */
    Map<String, Long> percentiles() {
        return Map.of("p50_ns", at(50), "p90_ns", at(90), "p99_ns", at(99), "max_ns", at(100));
    }

    /** Returns a percentile by the nearest-rank method. */
    long at(int percent) {
        Arrays.sort(times, 0, count);
        return count == 0 ? 0 : times[(int) (((long) count * percent + 99) / 100) - 1];
    }
}
