package contender.threads;

import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Idle threads: {@code idle-memory}. */
final class Idle {
    /** Maximum number of threads started before the root receives their reports. */
    private static final int AT_ONCE = 1000;

    /** The queues of the idle threads, which wait until the program ends. */
    private static final List<BlockingQueue<Object>> MAILBOXES = new ArrayList<>();

    private Idle() {}

    static Sample run(Params params) throws InterruptedException {
        long n = params.number("n");
        var ready = new LinkedTransferQueue<Long>();
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        while (sent < n) {
            for (long end = Math.min(n, sent + AT_ONCE); sent < end; sent++) {
                var mailbox = new LinkedTransferQueue<Object>();
                MAILBOXES.add(mailbox);
                Thread.startVirtualThread(() -> {
                    try {
                        ready.put(1L);
                        mailbox.take();
                    } catch (InterruptedException ended) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            while (received < sent) {
                received += ready.take();
            }
        }
        return new Sample(System.nanoTime() - start, n, sent, received);
    }
}
