package contender.threads;

import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Messages from one sender to many receivers in turn: {@code fan-out}. */
final class FanOut {
    private FanOut() {}

    private record Message(long number) {}

    static Sample run(Params params) throws InterruptedException {
        long n = params.number("n");
        int processes = params.count("processes");
        var reports = new LinkedTransferQueue<Long>();
        var receivers = new ArrayList<BlockingQueue<Message>>();
        for (int i = 0; i < processes; i++) {
            long share = n / processes + (i < n % processes ? 1 : 0);
            BlockingQueue<Message> mailbox = new LinkedTransferQueue<>();
            receivers.add(mailbox);
            Thread.startVirtualThread(() -> receive(share, mailbox, reports));
        }
        for (int i = 0; i < processes; i++) {
            reports.take();
        }
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        for (int place = 0; sent < n; sent++) {
            receivers.get(place).put(new Message(sent));
            place++;
            if (place == processes) {
                place = 0;
            }
        }
        for (int i = 0; i < processes; i++) {
            received += reports.take();
        }
        return new Sample(System.nanoTime() - start, n, sent, received);
    }

    /** Reports that it runs, receives its share of the messages and reports their number. */
    private static void receive(long share, BlockingQueue<Message> mailbox, BlockingQueue<Long> reports) {
        try {
            reports.put(0L);
            long received = 0;
            while (received < share) {
                mailbox.take();
                received++;
            }
            reports.put(received);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
