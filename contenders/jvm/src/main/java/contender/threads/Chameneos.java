package contender.threads;

import contender.Params;
import contender.Sample;
import contender.Savina.Colour;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Creatures that meet in pairs at a mall: {@code chameneos}. */
final class Chameneos {
    private Chameneos() {}

    /** A creature's colour. The reply is the colour of the other creature, or {@code null} if the mall is closed. */
    private record Meet(Colour colour, CompletableFuture<Colour> other) {}

    static Sample run(Params params) throws Exception {
        int creatures = params.count("creatures");
        long n = params.number("n");

        long start = System.nanoTime();
        var mall = new LinkedTransferQueue<Meet>();
        var serving = Tasks.start(() -> serve(mall, creatures, n));
        var living = new ArrayList<Future<Long>>();
        for (int i = 0; i < creatures; i++) {
            var colour = Colour.of(i);
            living.add(Tasks.start(() -> live(colour, mall)));
        }
        long met = 0;
        for (var creature : living) {
            met += creature.get();
        }
        long elapsed = System.nanoTime() - start;

        return new Sample(elapsed, n, 2 * serving.get(), met);
    }

    /** Returns the number of meetings of a creature. */
    private static long live(Colour first, BlockingQueue<Meet> mall) throws Exception {
        var colour = first;
        for (long meetings = 0; ; meetings++) {
            var own = colour;
            Colour other = Tasks.call(mall, reply -> new Meet(own, reply));
            if (other == null) {
                return meetings;
            }
            colour = own.complement(other);
        }
    }

    /** Pairs the creatures until there were n meetings, then closes to all. Returns the number of meetings. */
    private static long serve(BlockingQueue<Meet> mailbox, int creatures, long n) throws InterruptedException {
        long meetings = 0;
        Meet waiting = null;
        for (int closed = 0; closed < creatures; ) {
            var next = mailbox.take();
            if (meetings == n) {
                next.other().complete(null);
                closed++;
            } else if (waiting == null) {
                waiting = next;
            } else {
                meetings++;
                waiting.other().complete(next.colour());
                next.other().complete(waiting.colour());
                waiting = null;
            }
        }
        return meetings;
    }
}
