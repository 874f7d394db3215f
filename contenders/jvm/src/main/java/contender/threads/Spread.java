package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Savina.Calibration;
import contender.Work;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Threads that call one server and compute in turn: {@code spread}. */
final class Spread {
    private Spread() {}

    private record Request(long round, CompletableFuture<Long> reply) {
        static final Request END = new Request(0, null);
    }

    /** The replies of a process, and its final x. */
    private record Computed(long sent, long received, long x) {}

    static Sample run(Params params) throws Exception {
        int processes = params.count("processes");
        long n = params.number("n");
        var calibration = Calibration.measure(params.number("us"));

        long start = System.nanoTime();
        var server = new LinkedTransferQueue<Request>();
        var serving = Tasks.start(() -> serve(server));
        var computing = new ArrayList<Future<Computed>>();
        for (int i = 0; i < processes; i++) {
            computing.add(Tasks.start(() -> compute(n, calibration.steps(), server)));
        }
        long sent = 0;
        long received = 0;
        long sink = 0;
        for (var process : computing) {
            var computed = process.get();
            sent += computed.sent();
            received += computed.received();
            sink += computed.x();
        }
        long elapsed = System.nanoTime() - start;

        server.put(Request.END);
        long served = serving.get();
        return new Sample(elapsed, processes * n, sent + served, received + served)
                .with(calibration.fields(sink));
    }

    private static Computed compute(long n, long steps, BlockingQueue<Request> server) throws Exception {
        long x = Work.START;
        long received = 0;
        for (long i = 0; i < n; i++) {
            long round = i;
            long answer = Tasks.<Request, Long>call(server, reply -> new Request(round, reply));
            received += answer == round ? 1 : 0;
            x = Work.work(x, steps);
        }
        return new Computed(n, received, x);
    }

    /** Returns the number of requests, each of which was answered. */
    private static long serve(BlockingQueue<Request> mailbox) throws InterruptedException {
        long requests = 0;
        for (var request = mailbox.take(); request != Request.END; request = mailbox.take()) {
            request.reply().complete(request.round());
            requests++;
        }
        return requests;
    }
}
