package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Trips;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;

/** Round trips while other threads compute without pause: {@code hog}. */
final class Hog {
    private Hog() {}

    /** A start time, a trip that is back, or the end of the run. */
    private record Message(Kind kind, long time) {}

    private enum Kind {
        START,
        BACK,
        END
    }

    /** An executor of timers starts the trips, by a timer each. */
    static Sample run(Params params) throws InterruptedException {
        var trips = new Trips(params);
        var first = new LinkedTransferQueue<Message>();
        var partner = new LinkedTransferQueue<Message>();
        var threads = new ArrayList<Thread>();
        threads.add(Thread.startVirtualThread(() -> first(trips, first, partner)));
        threads.add(Thread.startVirtualThread(() -> answer(partner, first)));
        for (long hogs = params.number("hogs"); hogs > 0; hogs--) {
            threads.add(Thread.startVirtualThread(trips::compute));
        }
        long elapsed;
        try (var timers = Timers.executor()) {
            elapsed = trips.run(due -> timers.schedule(
                    () -> first.add(new Message(Kind.START, due)), due - System.nanoTime(), TimeUnit.NANOSECONDS));
        }
        first.add(new Message(Kind.END, 0));
        for (var thread : threads) {
            thread.join();
        }
        return trips.sample(elapsed);
    }

    /** Makes the trips. */
    private static void first(Trips trips, BlockingQueue<Message> mailbox, BlockingQueue<Message> partner) {
        try {
            while (true) {
                var message = mailbox.take();
                switch (message.kind()) {
                    case START -> partner.put(new Message(Kind.BACK, trips.started(message.time())));
                    case BACK -> {
                        long next = trips.back(message.time());
                        if (next != 0) {
                            partner.put(new Message(Kind.BACK, next));
                        }
                    }
                    case END -> {
                        partner.put(message);
                        return;
                    }
                }
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends each message back. */
    private static void answer(BlockingQueue<Message> mailbox, BlockingQueue<Message> first) {
        try {
            for (var trip = mailbox.take(); trip.kind() != Kind.END; trip = mailbox.take()) {
                first.put(trip);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
