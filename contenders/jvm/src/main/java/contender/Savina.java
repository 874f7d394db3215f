package contender;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Parts of the Savina programs and of {@code spread} that involve no runtime. */
public final class Savina {
    /** Initial balance of an account of {@code banking}. */
    public static final long BALANCE = 1_000_000;

    /** Number of keys of {@code dictionary}. */
    private static final int KEYS = 65_536;

    private Savina() {}

    /** A transfer of {@code banking}; the source precedes the destination. */
    public record Transfer(int source, int destination, long amount) {
        /** Draws the next transfer between this many accounts. */
        public static Transfer next(Draws draws, int accounts) {
            int source = (int) draws.below(accounts * 4L / 5);
            int destination = source + 1 + (int) draws.below(accounts - source - 1);
            return new Transfer(source, destination, 1 + draws.below(1000));
        }
    }

    /** Colour of a creature of {@code chameneos}. */
    public enum Colour {
        BLUE,
        RED,
        YELLOW;

        private static final Colour[] ALL = values();

        /** Returns the first colour of the creature with this number. */
        public static Colour of(int creature) {
            return ALL[creature % ALL.length];
        }

        /** Returns the colour after a meeting: the third one if the two differ. */
        public Colour complement(Colour other) {
            return this == other ? this : ALL[ALL.length - ordinal() - other.ordinal()];
        }
    }

    /** A request of {@code dictionary}: a read if there is no value. */
    public record Lookup(int key, Integer value) {
        /** Draws the next request, with this share of writes in percent. */
        public static Lookup next(Draws draws, long writes) {
            boolean write = draws.below(100) < writes;
            int key = (int) draws.below(KEYS);
            return new Lookup(key, write ? (Integer) (KEYS * (int) draws.below(1000) + key) : null);
        }

        /** Returns whether this value may belong to the key. */
        public boolean accepts(int answer) {
            return answer % KEYS == key;
        }
    }

    /** Returns the map of {@code dictionary}: every key with itself as the value. */
    public static Map<Integer, Integer> dictionary() {
        var map = new HashMap<Integer, Integer>();
        for (int key = 0; key < KEYS; key++) {
            map.put(key, key);
        }
        return map;
    }

    /** A series of {@code logistic-map}. */
    public record Series(double rate, double start) {
        /** Returns the series with this number. */
        public static Series of(int number) {
            return new Series((1384 + number) / 400.0, (number + 1) / 400.0);
        }

        /** Returns the term that follows x. */
        public double next(double x) {
            return rate * x * (1 - x);
        }
    }

    /** Returns {@code floor(x·10^9)} of a term, for sums that do not depend on the order of their parts. */
    public static long scaled(double x) {
        return (long) Math.floor(x * 1e9);
    }

    /** Primes of one filter of {@code sieve}. */
    public static final class Filter {
        private final int local;
        private long[] primes = new long[16];
        private int count;

        /** Creates a filter with its first prime and the maximum number of primes. */
        public Filter(long first, int local) {
            this.local = local;
            primes[count++] = first;
        }

        /** Returns the filter that begins with this prime, with the same maximum. */
        public Filter next(long first) {
            return new Filter(first, local);
        }

        public boolean divides(long candidate) {
            for (int i = 0; i < count; i++) {
                if (candidate % primes[i] == 0) {
                    return true;
                }
            }
            return false;
        }

        /** Keeps a prime; returns {@code false} if the filter is full. */
        public boolean keep(long prime) {
            if (count == local) {
                return false;
            }
            if (count == primes.length) {
                primes = Arrays.copyOf(primes, 2 * count);
            }
            primes[count++] = prime;
            return true;
        }

        /** Returns the number of primes. */
        public int count() {
            return count;
        }
    }

    /** Number of steps of work that take a given time, for {@code spread}. */
    public record Calibration(long steps, long shortest) {
        private static final long TIMED_STEPS = 200_000;
        private static final int TIMINGS = 10;

        // WHY: without a use of the result the compiler would remove the work.
        private static volatile long used;

        /** Measures how many steps take this many microseconds. */
        public static Calibration measure(long us) {
            long shortest = Long.MAX_VALUE;
            for (int i = 0; i < TIMINGS; i++) {
                long start = System.nanoTime();
                used = Work.work(Work.START, TIMED_STEPS);
                shortest = Math.min(shortest, System.nanoTime() - start);
            }
            shortest = Math.max(shortest, 1);
            long steps = (TIMED_STEPS * us * 1000 + shortest / 2) / shortest;
            return new Calibration(Math.max(steps, 1), shortest);
        }

        /** Returns the fields of the answer, with the sum of the final x. */
        public Map<String, Long> fields(long sink) {
            return Map.of("steps", steps, "calibration_ns", shortest, "sink", sink);
        }
    }
}
