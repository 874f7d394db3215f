package contender;

import java.util.Comparator;
import java.util.stream.IntStream;

/** Pseudorandom draws of the protocol: those of a stream, and those of {@code timers} and {@code timer-expiry}. */
public final class Draws {
    /** Number of values of a draw. */
    private static final long RANGE = 1L << 31;

    private long x;

    /** Creates the stream with this number. */
    public Draws(long stream) {
        x = (1073741789 * stream + 1) % RANGE;
    }

    /** Returns the next draw below this bound. */
    public long below(long bound) {
        x = next(x);
        return bound * x / RANGE;
    }

    private static long next(long x) {
        return (20077 * x + 12345) % RANGE;
    }

    /** Returns the first draws of a seed. */
    private static long[] draws(long seed, int count) {
        var draws = new long[count];
        long x = seed % RANGE;
        for (int i = 0; i < count; i++) {
            x = next(x);
            draws[i] = x;
        }
        return draws;
    }

    /** Returns the indices of the window of {@code timers} in the order in which its timers are cancelled. */
    public static int[] cancelOrder(Params params) {
        var keys = draws(params.number("seed"), params.count("window"));
        return IntStream.range(0, keys.length)
                .boxed()
                .sorted(Comparator.comparingLong((Integer i) -> keys[i]))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /** Returns the due times of {@code timer-expiry}, in ns after the first. */
    public static long[] dueTimes(Params params) {
        long spread = params.number("spread_ms") + 1;
        var due = draws(params.number("seed"), params.count("n"));
        for (int i = 0; i < due.length; i++) {
            due[i] = due[i] * spread / RANGE * 1_000_000;
        }
        return due;
    }
}
