package contender.threads;

import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Dining philosophers at an arbiter: {@code philosophers}. */
final class Philosophers {
    private Philosophers() {}

    private sealed interface ToArbiter {}

    /** The reply is whether both forks are taken. */
    private record Hungry(int seat, CompletableFuture<Boolean> eat) implements ToArbiter {}

    private record Done(int seat) implements ToArbiter {}

    private record End() implements ToArbiter {}

    private record Answered(long granted, long denied) {}

    static Sample run(Params params) throws Exception {
        int count = params.count("philosophers");
        long n = params.number("n");

        long start = System.nanoTime();
        var arbiter = new LinkedTransferQueue<ToArbiter>();
        var arbitrating = Tasks.start(() -> arbitrate(arbiter, count));
        var dining = new ArrayList<Future<Long>>();
        for (int i = 0; i < count; i++) {
            int seat = i;
            dining.add(Tasks.start(() -> dine(seat, n, arbiter)));
        }
        long eaten = 0;
        for (var philosopher : dining) {
            eaten += philosopher.get();
        }
        long elapsed = System.nanoTime() - start;

        arbiter.put(new End());
        var answered = arbitrating.get();
        return new Sample(elapsed, count * n, answered.granted(), eaten).with("denied", answered.denied());
    }

    /** Returns the number of meals. */
    private static long dine(int seat, long n, BlockingQueue<ToArbiter> arbiter) throws Exception {
        long eaten = 0;
        while (eaten < n) {
            boolean eat = Tasks.call(arbiter, reply -> new Hungry(seat, reply));
            if (eat) {
                eaten++;
                arbiter.put(new Done(seat));
            }
        }
        return eaten;
    }

    private static Answered arbitrate(BlockingQueue<ToArbiter> mailbox, int count) throws InterruptedException {
        var taken = new boolean[count];
        long granted = 0;
        long denied = 0;
        while (true) {
            switch (mailbox.take()) {
                case Hungry hungry -> {
                    int left = hungry.seat();
                    int right = (left + 1) % count;
                    boolean free = !taken[left] && !taken[right];
                    if (free) {
                        taken[left] = true;
                        taken[right] = true;
                        granted++;
                    } else {
                        denied++;
                    }
                    hungry.eat().complete(free);
                }
                case Done done -> {
                    taken[done.seat()] = false;
                    taken[(done.seat() + 1) % count] = false;
                }
                case End end -> {
                    return new Answered(granted, denied);
                }
            }
        }
    }
}
