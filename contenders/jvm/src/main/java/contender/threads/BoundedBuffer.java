package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Work;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Producers and consumers at the manager of a buffer: {@code bounded-buffer}. */
final class BoundedBuffer {
    /** Reply to a consumer after the last item. */
    private static final long END = -1;

    private BoundedBuffer() {}

    private sealed interface ToManager {}

    private record Put(long item, CompletableFuture<Boolean> accepted) implements ToManager {}

    private record Get(CompletableFuture<Long> item) implements ToManager {}

    /** The items of a consumer: their number and their sum. */
    private record Consumed(long items, long sum) {}

    static Sample run(Params params) throws Exception {
        int producers = params.count("producers");
        int consumers = params.count("consumers");
        long cost = params.number("cost");
        long n = params.number("n");
        int room = params.count("capacity") - producers;
        long total = producers * n;

        long start = System.nanoTime();
        var manager = new LinkedTransferQueue<ToManager>();
        Tasks.start(() -> manage(manager, room, total, consumers));
        var consuming = new ArrayList<Future<Consumed>>();
        for (int i = 0; i < consumers; i++) {
            consuming.add(Tasks.start(() -> consume(manager, cost)));
        }
        var producing = new ArrayList<Future<Long>>();
        for (int i = 0; i < producers; i++) {
            producing.add(Tasks.start(() -> produce(manager, cost, n)));
        }
        long received = 0;
        long sink = 0;
        for (var consumer : consuming) {
            var consumed = consumer.get();
            received += consumed.items();
            sink = (sink + consumed.sum()) & 0x7fffffff;
        }
        long elapsed = System.nanoTime() - start;

        long sent = 0;
        for (var producer : producing) {
            sent += producer.get();
        }
        return new Sample(elapsed, total, sent, received).with("sink", sink);
    }

    private static long produce(BlockingQueue<ToManager> manager, long cost, long n) throws Exception {
        long item = Work.START;
        long produced = 0;
        for (long i = 0; i < n; i++) {
            item = Work.work(item, cost);
            long next = item;
            boolean accepted = Tasks.call(manager, reply -> new Put(next, reply));
            produced += accepted ? 1 : 0;
        }
        return produced;
    }

    private static Consumed consume(BlockingQueue<ToManager> manager, long cost) throws Exception {
        long items = 0;
        long sum = 0;
        while (true) {
            long item = Tasks.call(manager, Get::new);
            if (item == END) {
                return new Consumed(items, sum);
            }
            sum = (sum + Work.work(item, cost)) & 0x7fffffff;
            items++;
        }
    }

    /** Passes on {@code total} items, and then tells all consumers that there are no more. */
    private static Void manage(BlockingQueue<ToManager> mailbox, int room, long total, int consumers)
            throws InterruptedException {
        var items = new ArrayDeque<Long>();
        var waiting = new ArrayDeque<CompletableFuture<Boolean>>();
        var idle = new ArrayDeque<CompletableFuture<Long>>();
        long left = total;
        for (int ended = 0; ended < consumers; ) {
            switch (mailbox.take()) {
                case Put put -> {
                    if (idle.isEmpty()) {
                        items.add(put.item());
                    } else {
                        idle.remove().complete(put.item());
                        left--;
                    }
                    if (items.size() < room) {
                        put.accepted().complete(true);
                    } else {
                        waiting.add(put.accepted());
                    }
                }
                case Get get -> {
                    if (items.isEmpty()) {
                        idle.add(get.item());
                    } else {
                        get.item().complete(items.remove());
                        left--;
                        if (!waiting.isEmpty()) {
                            waiting.remove().complete(true);
                        }
                    }
                }
            }
            for (; left == 0 && !idle.isEmpty(); ended++) {
                idle.remove().complete(END);
            }
        }
        return null;
    }
}
