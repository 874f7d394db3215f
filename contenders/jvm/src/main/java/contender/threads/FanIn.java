package contender.threads;

import contender.Delays;
import contender.Sample;
import contender.Work;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Messages from one or many senders to one receiver: {@code throughput} and {@code fan-in}. */
final class FanIn {
    private FanIn() {}

    /** A message; it carries its send time, or 0. */
    private record Message(long stamp, long sent) {}

    static Sample run(long senders, long n) throws InterruptedException {
        var delays = new Delays();
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        BlockingQueue<Message> mailbox = new LinkedTransferQueue<>();
        for (long sender = 0; sender < senders; sender++) {
            long share = Work.share(n, senders, sender);
            Thread.startVirtualThread(() -> send(share, mailbox));
        }
        for (long sending = senders; sending > 0; ) {
            var message = mailbox.take();
            if (message.sent() >= 0) {
                sent += message.sent();
                sending--;
            } else {
                delays.received(message.stamp());
                received++;
            }
        }
        return new Sample(System.nanoTime() - start, n, sent, received).with(delays.fields());
    }

    /** Sends the messages, and then their number. */
    private static void send(long share, BlockingQueue<Message> mailbox) {
        try {
            for (long message = 0; message < share; message++) {
                mailbox.put(new Message(Delays.stamp(message), -1));
            }
            mailbox.put(new Message(0, share));
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
