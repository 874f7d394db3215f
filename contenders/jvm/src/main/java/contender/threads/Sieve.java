package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Savina.Filter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** A chain of threads that filters primes: {@code sieve}. */
final class Sieve {
    /** Follows the last candidate. */
    private static final long END = -1;

    private Sieve() {}

    /** Report of a filter: its primes, the candidates that ended there, and whether it is the last one. */
    private record Filtered(long primes, long ended, boolean last) {}

    static Sample run(Params params) throws InterruptedException {
        long n = params.number("n");
        int local = params.count("local");
        long sent = 0;
        long ended = 0;
        long primes = 0;

        long start = System.nanoTime();
        var reports = new LinkedTransferQueue<Filtered>();
        var first = spawn(new Filter(2, local), reports);
        for (long candidate = 3; candidate <= n; candidate += 2) {
            first.put(candidate);
            sent++;
        }
        first.put(END);
        // A filter passes the end on after its report, so the last one reports last.
        for (boolean last = false; !last; ) {
            var filter = reports.take();
            primes += filter.primes();
            ended += filter.ended();
            last = filter.last();
        }
        long elapsed = System.nanoTime() - start;
        return new Sample(elapsed, (n - 1) / 2, sent, ended).with("primes", primes);
    }

    /** Starts the thread of a filter; returns its mailbox. */
    private static BlockingQueue<Long> spawn(Filter filter, BlockingQueue<Filtered> reports) {
        var mailbox = new LinkedTransferQueue<Long>();
        Tasks.start(() -> sift(filter, mailbox, reports));
        return mailbox;
    }

    private static Void sift(Filter filter, BlockingQueue<Long> mailbox, BlockingQueue<Filtered> reports)
            throws InterruptedException {
        BlockingQueue<Long> next = null;
        long ended = 0;
        for (long candidate = mailbox.take(); candidate != END; candidate = mailbox.take()) {
            if (filter.divides(candidate)) {
                ended++;
            } else if (next != null) {
                next.put(candidate);
            } else {
                // The first prime of the next filter has ended here, too.
                ended++;
                if (!filter.keep(candidate)) {
                    next = spawn(filter.next(candidate), reports);
                }
            }
        }
        reports.put(new Filtered(filter.count(), ended, next == null));
        if (next != null) {
            next.put(END);
        }
        return null;
    }
}
