package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Work;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Messages to a thread that drops them: the remote mode of {@code call-vs-send}. */
final class Calls {
    /**
     * Number of messages after which the sender publishes its count, and the receiver compares it with its own: the
     * size of the queue itself takes a traversal of the queue.
     */
    private static final int LOOK_EVERY = 1024;

    /** Size of a message in a queue, in bytes: the message and its reference. */
    private static final long MESSAGE_BYTES = 32;

    private Calls() {}

    private record Message(long number) {}

    static Sample remote(Params params) throws InterruptedException {
        long n = params.number("n");
        BlockingQueue<Message> mailbox = new LinkedTransferQueue<>();
        var published = new AtomicLong();
        var receiver = new Receiver(mailbox, published);
        var receiving = Thread.startVirtualThread(receiver);
        long sent = 0;

        long start = System.nanoTime();
        for (long left = n; left != 0; left = Work.less(left)) {
            mailbox.put(new Message(left));
            sent++;
            if (sent % LOOK_EVERY == 0) {
                published.lazySet(sent);
            }
        }
        long elapsed = System.nanoTime() - start;

        mailbox.put(Receiver.END);
        receiving.join();
        return new Sample(elapsed, n, sent, receiver.received)
                .with("queue_peak", receiver.peak)
                .with("queue_peak_bytes", receiver.peak * MESSAGE_BYTES);
    }

    private static final class Receiver implements Runnable {
        static final Message END = new Message(0);

        private final BlockingQueue<Message> mailbox;
        private final AtomicLong published;
        private long received;
        private long peak;

        Receiver(BlockingQueue<Message> mailbox, AtomicLong published) {
            this.mailbox = mailbox;
            this.published = published;
        }

        @Override
        public void run() {
            try {
                while (mailbox.take() != END) {
                    received++;
                    if (received % LOOK_EVERY == 1) {
                        peak = Math.max(peak, published.get() - received);
                    }
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
