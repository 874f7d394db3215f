package contender.threads;

import contender.Delays;
import contender.Params;
import contender.Sample;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Request with a future for the reply: {@code call}. */
final class Call {
    /** Timeout of a call in seconds: the default of gen_server:call. */
    private static final long TIMEOUT = 5;

    private Call() {}

    private record Request(long round, CompletableFuture<Long> reply) {}

    static Sample run(Params params) throws InterruptedException, ExecutionException {
        long n = params.number("n");
        var delays = new Delays();
        long sent = 0;
        long received = 0;

        long start = System.nanoTime();
        BlockingQueue<Request> mailbox = new LinkedTransferQueue<>();
        var server = new Server(mailbox);
        var serving = Thread.startVirtualThread(server);
        for (long round = 0; round < n; round++) {
            delays.start(round);
            var reply = new CompletableFuture<Long>();
            mailbox.put(new Request(round, reply));
            sent++;
            try {
                if (reply.get(TIMEOUT, TimeUnit.SECONDS) == round) {
                    received++;
                }
            } catch (TimeoutException late) {
                // The missing reply is missing in the result.
            }
            delays.back(round);
        }
        long elapsed = System.nanoTime() - start;

        mailbox.put(Server.END);
        serving.join();
        return new Sample(elapsed, n, sent + server.sent, received + server.received).with(delays.fields());
    }

    /** Replies to each request with its number. */
    private static final class Server implements Runnable {
        static final Request END = new Request(-1, null);

        private final BlockingQueue<Request> mailbox;
        private long sent;
        private long received;

        Server(BlockingQueue<Request> mailbox) {
            this.mailbox = mailbox;
        }

        @Override
        public void run() {
            try {
                for (var request = mailbox.take(); request != END; request = mailbox.take()) {
                    received++;
                    // Counted first: the reply lets the caller go on.
                    sent++;
                    request.reply().complete(request.round());
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
