package contender;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Round trips of {@code hog}: starts, latencies and the stop flag.
 *
 * <p>{@link #run} is called by the thread that serves the lab, which sets the timers. {@link #started} and {@link
 * #back} are called by the process that makes the trips, and {@link #compute} by the computing processes.
 */
public final class Trips {
    /** Time from the call of {@link #run} to the first trip, in ns. */
    private static final long LEAD = TimeUnit.MILLISECONDS.toNanos(5);

    /** Time for trips in progress to complete after the last start, in ns. */
    private static final long GRACE = TimeUnit.SECONDS.toNanos(2);

    /** Steps of work between two checks of the stop flag: a few microseconds. */
    private static final int WORK_STEPS = 4096;

    /** Maximum number of trips of a closed loop. */
    private static final int TRIPS_MAX = 1 << 22;

    private final boolean open;
    private final long ms;
    private final Delays delays = new Delays();
    private final Delays late = new Delays();
    private final CountDownLatch allBack = new CountDownLatch(1);
    private volatile boolean stopped;
    private long until;
    private long started;

    public Trips(Params params) {
        open = params.word("loop").equals("open");
        ms = params.number("ms");
    }

    /**
     * Passes the due time of each trip to {@code timer}, which sets a timer of the runtime, and waits until all are
     * back or the time is up. Returns the elapsed time in ns.
     */
    public long run(LongConsumer timer) throws InterruptedException {
        long begin = System.nanoTime() + LEAD;
        until = begin + TimeUnit.MILLISECONDS.toNanos(ms);
        for (long i = 0; i < (open ? ms : 1); i++) {
            timer.accept(begin + TimeUnit.MILLISECONDS.toNanos(i));
        }
        allBack.await(until + GRACE - System.nanoTime(), TimeUnit.NANOSECONDS);
        long elapsed = System.nanoTime() - begin;
        stopped = true;
        return elapsed;
    }

    /** Records the start of the first trip of a closed loop, or of any of an open one; returns its start time. */
    public long started(long due) {
        started++;
        long now = System.nanoTime();
        if (!open) {
            return now;
        }
        late.add(now - due);
        return due;
    }

    /** Records the end of a trip that began then. Returns the start time of the next trip, or 0 if there is none. */
    public long back(long start) {
        if (stopped) {
            return 0;
        }
        long now = System.nanoTime();
        delays.add(now - start);
        if (!open && now < until && started < TRIPS_MAX) {
            started++;
            return now;
        }
        if (!open || delays.count() == ms) {
            allBack.countDown();
        }
        return 0;
    }

    /** Computes until the run is stopped. */
    public void compute() {
        long x = Work.START;
        while (!stopped) {
            x = Work.work(x, WORK_STEPS);
        }
    }

    /** Returns the sample, after all processes of the run have ended. */
    public Sample sample(long elapsed) {
        long sent = open ? ms : Math.max(started, 1);
        long back = delays.count();
        return new Sample(elapsed, back, sent, back)
                .with(delays.percentiles())
                .with("late_p50_ns", late.at(50))
                .with("late_p99_ns", late.at(99))
                .with("starved", back < sent ? 1 : 0);
    }
}
