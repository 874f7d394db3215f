package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Work;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Threads that start their successor and end: {@code spawn-chain} and {@code serial-spawn}. */
final class Chains {
    private Chains() {}

    static Sample spawnChain(Params params) throws InterruptedException {
        long n = params.number("n");
        long reps = params.number("reps");
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        var root = new LinkedTransferQueue<Long>();
        for (long i = 0; i < reps; i++) {
            next(n, 0, root);
            sent += n;
            received += root.take();
        }
        return new Sample(System.nanoTime() - start, n * reps, sent, received);
    }

    static Sample serialSpawn(Params params) throws InterruptedException {
        long m = params.number("m");
        long total = params.number("total");
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        var root = new LinkedTransferQueue<Long>();
        for (long chain = 0; chain < m; chain++) {
            long length = Work.share(total, m, chain);
            next(length, 0, root);
            sent += length;
        }
        for (long chain = 0; chain < m; chain++) {
            received += root.take();
        }
        return new Sample(System.nanoTime() - start, total, sent, received);
    }

    /** Starts a thread that starts the next one and ends; the last one reports how many ran. */
    private static void next(long left, long ran, BlockingQueue<Long> root) {
        Thread.startVirtualThread(() -> {
            if (left == 1) {
                root.add(ran + 1);
            } else {
                next(left - 1, ran + 1, root);
            }
        });
    }
}
