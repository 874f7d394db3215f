package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Side;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;

/**
 * Two threads that compute and exchange messages: {@code exchange},
 * {@code message-size}, {@code bandwidth} and {@code message-moved}.
 */
final class Exchange {
    private Exchange() {}

    /** A message of the partner; a short one has no list. */
    private record Parcel(long[] list) {}

    static Sample run(Params params) throws InterruptedException {
        var pairs = new Side.Pairs(params);
        for (long reps = params.number("reps"); reps > 0; reps--) {
            var sides = pairs.next();
            // WHY no bound: two threads that fill each other's queue would deadlock.
            List<BlockingQueue<Parcel>> mailboxes = List.of(new LinkedTransferQueue<>(), new LinkedTransferQueue<>());
            var ready = new CountDownLatch(2);
            var told = new CountDownLatch(1);
            var finished = new CountDownLatch(2);
            for (int i = 0; i < 2; i++) {
                var side = sides.get(i);
                var mailbox = mailboxes.get(i);
                var partner = mailboxes.get(1 - i);
                Thread.startVirtualThread(() -> {
                    try {
                        ready.countDown();
                        told.await();
                        meet(side, mailbox, partner);
                        finished.countDown();
                    } catch (InterruptedException ended) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            ready.await();

            long start = System.nanoTime();
            told.countDown();
            finished.await();
            pairs.add(System.nanoTime() - start, sides);
        }
        return pairs.sample();
    }

    private static void meet(Side side, BlockingQueue<Parcel> mailbox, BlockingQueue<Parcel> partner)
            throws InterruptedException {
        while (side.hasWork()) {
            for (long due = side.work(); due > 0; due--) {
                partner.put(new Parcel(side.supply()));
            }
            var parcel = mailbox.poll();
            if (parcel != null) {
                side.accept(parcel.list());
            }
        }
        while (!side.isDone()) {
            side.accept(mailbox.take().list());
        }
    }
}
