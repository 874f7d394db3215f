package contender.threads;

import contender.Draws;
import contender.Params;
import contender.Sample;
import contender.Savina;
import contender.Savina.Lookup;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Workers that call the thread which owns a map: {@code dictionary}. */
final class Dictionary {
    private Dictionary() {}

    private sealed interface Message {}

    private record Read(int key, CompletableFuture<Integer> value) implements Message {}

    private record Write(int key, int value, CompletableFuture<Integer> written) implements Message {}

    private record End() implements Message {}

    private record Served(long requests, long writes) {}

    static Sample run(Params params) throws Exception {
        int workers = params.count("workers");
        long writes = params.number("writes");
        long n = params.number("n");
        var map = Savina.dictionary();

        long start = System.nanoTime();
        var dictionary = new LinkedTransferQueue<Message>();
        var serving = Tasks.start(() -> serve(dictionary, map));
        var working = new ArrayList<Future<Tasks.Counted>>();
        for (int i = 0; i < workers; i++) {
            int number = i;
            working.add(Tasks.start(() -> work(number, writes, n, dictionary)));
        }
        long sent = 0;
        long received = 0;
        for (var worker : working) {
            var counted = worker.get();
            sent += counted.sent();
            received += counted.received();
        }
        long elapsed = System.nanoTime() - start;

        dictionary.put(new End());
        var served = serving.get();
        return new Sample(elapsed, workers * n, sent + served.requests(), received + served.requests())
                .with("writes", served.writes());
    }

    private static Tasks.Counted work(int number, long writes, long n, BlockingQueue<Message> dictionary)
            throws Exception {
        var draws = new Draws(number);
        long sent = 0;
        long received = 0;
        for (; sent < n; sent++) {
            var next = Lookup.next(draws, writes);
            int answer = Tasks.call(
                    dictionary,
                    reply -> next.value() == null
                            ? new Read(next.key(), reply)
                            : new Write(next.key(), next.value(), reply));
            received += next.accepts(answer) ? 1 : 0;
        }
        return new Tasks.Counted(sent, received);
    }

    private static Served serve(BlockingQueue<Message> mailbox, Map<Integer, Integer> map)
            throws InterruptedException {
        long writes = 0;
        for (long requests = 0; ; requests++) {
            switch (mailbox.take()) {
                case Read read -> read.value().complete(map.get(read.key()));
                case Write write -> {
                    map.put(write.key(), write.value());
                    writes++;
                    write.written().complete(write.value());
                }
                case End end -> {
                    return new Served(requests, writes);
                }
            }
        }
    }
}
