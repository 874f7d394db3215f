package contender;

/** Computation without messages: tail calls, and the pieces of work of {@code exchange} and {@code hog}. */
public final class Work {
    /** Start value of the work of one process. */
    public static final long START = 1;

    // WHY not final: with a constant step the compiler would replace the loop by its result.
    private static long step = 1;

    private Work() {}

    /** Counts down from n to 0. The JVM has no tail calls, so this is a loop, which the compiler cannot remove. */
    public static long countDown(long n) {
        while (n != 0) {
            n = less(n);
        }
        return n;
    }

    /** Returns n - 1. */
    public static long less(long n) {
        return n - step;
    }

    /** Returns x after this many steps of work. */
    public static long work(long x, long steps) {
        for (long i = 0; i < steps; i++) {
            x = (x * 20077 + 12345) & 0x7fffffff;
        }
        return x;
    }

    /** Returns the share of one part of a total; part 0 also gets the remainder. */
    public static long share(long total, long parts, long part) {
        return total / parts + (part == 0 ? total % parts : 0);
    }

    static Sample tailCall(Params params) {
        long n = params.number("n");
        long reps = params.number("reps");
        long left = 0;
        long start = System.nanoTime();
        for (long i = 0; i < reps; i++) {
            left += countDown(n);
        }
        return new Sample(System.nanoTime() - start, n * reps, 0, 0).with("left", left);
    }

    static Sample local(long n) {
        long start = System.nanoTime();
        long left = countDown(n);
        return new Sample(System.nanoTime() - start, n - left, 0, 0);
    }
}
