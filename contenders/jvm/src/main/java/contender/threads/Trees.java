package contender.threads;

import contender.Params;
import contender.Sample;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Threads started by one thread, and by a tree of threads: {@code fork-join} and {@code skynet}. */
final class Trees {
    /** Number of children of each inner node. */
    private static final int CHILDREN = 10;

    private Trees() {}

    /** What a node reports: the sum over its leaves, and their number. */
    private record Report(long sum, long leaves) {}

    static Sample forkJoin(Params params) throws InterruptedException {
        long n = params.number("n");
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        var reports = new LinkedTransferQueue<Report>();
        for (; sent < n; sent++) {
            long ordinal = sent;
            Thread.startVirtualThread(() -> reports.add(new Report(ordinal, 1)));
        }
        while (received < n) {
            received += reports.take().leaves();
        }
        return new Sample(System.nanoTime() - start, n, sent, received);
    }

    static Sample skynet(Params params) throws InterruptedException {
        long leaves = params.number("leaves");

        long start = System.nanoTime();
        var root = new LinkedTransferQueue<Report>();
        Thread.startVirtualThread(() -> node(0, leaves, root));
        var whole = root.take();
        return new Sample(System.nanoTime() - start, leaves, leaves, whole.leaves()).with("sum", whole.sum());
    }

    /** Node over these leaves. */
    private static void node(long first, long leaves, BlockingQueue<Report> parent) {
        if (leaves == 1) {
            parent.add(new Report(first, 1));
            return;
        }
        long each = leaves / CHILDREN;
        var reports = new LinkedTransferQueue<Report>();
        for (int child = 0; child < CHILDREN; child++) {
            long begin = first + child * each;
            Thread.startVirtualThread(() -> node(begin, each, reports));
        }
        try {
            long sum = 0;
            long count = 0;
            for (int child = 0; child < CHILDREN; child++) {
                var part = reports.take();
                sum += part.sum();
                count += part.leaves();
            }
            parent.add(new Report(sum, count));
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
