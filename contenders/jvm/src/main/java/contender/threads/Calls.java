package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Work;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Messages to a thread that drops them: the remote mode of {@code call-vs-send}. */
final class Calls {
    /** Number of messages between two samples of the receiver's queue length. */
    private static final int LOOK_EVERY = 1024;

    /** Size of a message in a queue, in bytes: the message and its reference. */
    private static final long MESSAGE_BYTES = 32;

    private Calls() {}

    private record Message(long number) {}

    static Sample remote(Params params) throws InterruptedException {
        long n = params.number("n");
        BlockingQueue<Message> mailbox = new LinkedTransferQueue<>();
        var receiver = new Receiver(mailbox);
        var receiving = Thread.startVirtualThread(receiver);
        long sent = 0;

        long start = System.nanoTime();
        for (long left = n; left != 0; left = Work.less(left)) {
            mailbox.put(new Message(left));
            sent++;
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
        private long received;
        private long peak;

        Receiver(BlockingQueue<Message> mailbox) {
            this.mailbox = mailbox;
        }

        @Override
        public void run() {
            try {
                while (mailbox.take() != END) {
                    received++;
                    if (received % LOOK_EVERY == 1) {
                        peak = Math.max(peak, mailbox.size());
                    }
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
