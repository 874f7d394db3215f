package contender.threads;

import contender.Delays;
import contender.Params;
import contender.Sample;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** Two threads in lock-step: {@code ping-pong}. */
final class PingPong {
    private PingPong() {}

    private record Message(long round) {}

    static Sample run(Params params) throws InterruptedException {
        long n = params.number("n");
        var delays = new Delays();
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        BlockingQueue<Message> ping = new LinkedTransferQueue<>();
        BlockingQueue<Message> pong = new LinkedTransferQueue<>();
        var echo = new Echo(ping, pong);
        var partner = Thread.startVirtualThread(echo);
        for (long round = 0; round < n; round++) {
            delays.start(round);
            ping.put(new Message(round));
            sent++;
            if (pong.take().round() == round) {
                received++;
            }
            delays.back(round);
        }
        long elapsed = System.nanoTime() - start;

        ping.put(Echo.END);
        partner.join();
        return new Sample(elapsed, n, sent + echo.sent, received + echo.received).with(delays.fields());
    }

    /** Sends each message back. */
    private static final class Echo implements Runnable {
        static final Message END = new Message(-1);

        private final BlockingQueue<Message> mailbox;
        private final BlockingQueue<Message> back;
        private long sent;
        private long received;

        Echo(BlockingQueue<Message> mailbox, BlockingQueue<Message> back) {
            this.mailbox = mailbox;
            this.back = back;
        }

        @Override
        public void run() {
            try {
                for (var message = mailbox.take(); message != END; message = mailbox.take()) {
                    received++;
                    back.put(message);
                    sent++;
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
