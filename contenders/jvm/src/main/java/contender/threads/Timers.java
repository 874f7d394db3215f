package contender.threads;

import contender.Delays;
import contender.Draws;
import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Timers that are cancelled, and timers that expire: {@code timers} and {@code timer-expiry}. */
final class Timers {
    /** Duration in seconds of the timers that are cancelled. */
    private static final long SOON = 5;

    private Timers() {}

    /** Returns an executor of timers, which forgets a timer that is cancelled. */
    static ScheduledThreadPoolExecutor executor() {
        var timers = new ScheduledThreadPoolExecutor(1);
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return timers;
    }

    static Sample cancelled(Params params) {
        long n = params.number("n");
        var order = Draws.cancelOrder(params);
        try (var timers = executor()) {
            var alive = new ArrayList<Future<?>>();
            var next = new ArrayList<Future<?>>();
            for (int i = 0; i < order.length; i++) {
                alive.add(timers.schedule(Timers::expire, SOON, TimeUnit.SECONDS));
            }
            long sent = 0;
            long received = 0;
            int taken = 0;

            long start = System.nanoTime();
            for (; sent < n; sent++) {
                if (taken == order.length) {
                    var previous = alive;
                    alive = next;
                    next = previous;
                    next.clear();
                    taken = 0;
                }
                if (alive.get(order[taken]).cancel(false)) {
                    received++;
                }
                taken++;
                next.add(timers.schedule(Timers::expire, SOON, TimeUnit.SECONDS));
            }
            long elapsed = System.nanoTime() - start;

            for (; taken < order.length; taken++) {
                next.add(alive.get(order[taken]));
            }
            long waiting = next.stream().filter(timer -> !timer.isDone()).count();
            return new Sample(elapsed, n, sent, received).with("waiting", waiting);
        }
    }

    private static void expire() {}

    static Sample expiring(Params params) throws InterruptedException {
        long n = params.number("n");
        boolean timed = params.number("spread_ms") > 0;
        var within = Draws.dueTimes(params);
        var late = new Delays();
        var expired = new LinkedTransferQueue<Long>();
        try (var timers = executor()) {
            long first = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(params.number("after_ms"));
            for (long after : within) {
                Long due = first + after;
                timers.schedule(() -> expired.put(due), due - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
            boolean overdue = System.nanoTime() > first;
            long received = 0;
            for (; received < n; received++) {
                long due = expired.take();
                if (timed) {
                    late.add(System.nanoTime() - due);
                }
            }
            long elapsed = System.nanoTime() - first;
            return new Sample(elapsed, n, n, received).with(late.fields()).with("overdue", overdue ? 1 : 0);
        }
    }
}
