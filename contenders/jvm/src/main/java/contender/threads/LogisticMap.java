package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Savina;
import contender.Savina.Series;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Series whose terms are computed by other threads: {@code logistic-map}. */
final class LogisticMap {
    private LogisticMap() {}

    private sealed interface ToWorker {}

    private record Next() implements ToWorker {}

    private static final Next NEXT = new Next();

    /** Reply with the last term, and end. */
    private record Get(CompletableFuture<Double> term) implements ToWorker {}

    /** A term; the reply is the next one. */
    private record Term(double x, CompletableFuture<Double> next) {
        static final Term END = new Term(0, null);
    }

    static Sample run(Params params) throws Exception {
        int series = params.count("series");
        long terms = params.number("terms");
        long sent = 0;
        long received = 0;
        long sum = 0;

        long start = System.nanoTime();
        var workers = new ArrayList<BlockingQueue<ToWorker>>();
        var computers = new ArrayList<BlockingQueue<Term>>();
        var tasks = new ArrayList<Future<Tasks.Counted>>();
        for (int i = 0; i < series; i++) {
            var constants = Series.of(i);
            var computer = new LinkedTransferQueue<Term>();
            var worker = new LinkedTransferQueue<ToWorker>();
            tasks.add(Tasks.start(() -> compute(computer, constants)));
            tasks.add(Tasks.start(() -> work(worker, constants.start(), computer)));
            computers.add(computer);
            workers.add(worker);
        }
        for (long term = 0; term < terms; term++) {
            for (var worker : workers) {
                worker.put(NEXT);
                sent++;
            }
        }
        var results = new ArrayList<CompletableFuture<Double>>();
        for (var worker : workers) {
            var result = new CompletableFuture<Double>();
            worker.put(new Get(result));
            results.add(result);
        }
        for (var result : results) {
            sum += Savina.scaled(result.get());
        }
        long elapsed = System.nanoTime() - start;

        for (var computer : computers) {
            computer.put(Term.END);
        }
        for (var task : tasks) {
            var counted = task.get();
            sent += counted.sent();
            received += counted.received();
        }
        return new Sample(elapsed, series * terms, sent, received).with("sum", sum);
    }

    private static Tasks.Counted work(BlockingQueue<ToWorker> mailbox, double first, BlockingQueue<Term> computer)
            throws Exception {
        double x = first;
        long sent = 0;
        long received = 0;
        while (true) {
            switch (mailbox.take()) {
                case Next next -> {
                    received++;
                    double term = x;
                    sent++;
                    x = Tasks.<Term, Double>call(computer, reply -> new Term(term, reply));
                    received++;
                }
                case Get get -> {
                    get.term().complete(x);
                    return new Tasks.Counted(sent, received);
                }
            }
        }
    }

    private static Tasks.Counted compute(BlockingQueue<Term> mailbox, Series series) throws InterruptedException {
        long terms = 0;
        for (var term = mailbox.take(); term != Term.END; term = mailbox.take()) {
            term.next().complete(series.next(term.x()));
            terms++;
        }
        return new Tasks.Counted(terms, terms);
    }
}
