package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Work;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * Actors that start their successor and stop: {@code spawn-chain} and {@code serial-spawn}.
 *
 * <p>WHY the root spawns: an actor that stops stops its children, so an actor of the chain asks the root for its
 * successor, as users of {@code SpawnProtocol} do.
 */
final class Chains {
    private Chains() {}

    sealed interface ToRoot {}

    /** Requests the next actor of a chain. */
    private record Spawn(long left, long ran) implements ToRoot {}

    /** The end of a chain: the number of actors that ran. */
    private record Ended(long ran) implements ToRoot {}

    static Behavior<ToRoot> spawnChain(Params params, Consumer<Sample> done) {
        return Behaviors.setup(
                context -> new Root(context, 1, params.number("n"), params.number("reps"), done));
    }

    static Behavior<ToRoot> serialSpawn(Params params, Consumer<Sample> done) {
        return Behaviors.setup(
                context -> new Root(context, params.number("m"), params.number("total"), 1, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final long chains;
        private final long total;
        private final long reps;
        private final Consumer<Sample> done;
        private long rounds;
        private long running;
        private long sent;
        private long received;

        Root(ActorContext<ToRoot> context, long chains, long total, long reps, Consumer<Sample> done) {
            super(context);
            this.chains = chains;
            this.total = total;
            this.reps = reps;
            this.done = done;
            begin();
        }

        private void begin() {
            running = chains;
            for (long chain = 0; chain < chains; chain++) {
                long length = Work.share(total, chains, chain);
                spawn(length, 0);
                sent += length;
            }
        }

        private void spawn(long left, long ran) {
            getContext().spawnAnonymous(link(left, ran, getContext().getSelf()));
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Spawn.class, this::onSpawn)
                    .onMessage(Ended.class, this::onEnded)
                    .build();
        }

        private Behavior<ToRoot> onSpawn(Spawn next) {
            spawn(next.left(), next.ran());
            return this;
        }

        private Behavior<ToRoot> onEnded(Ended chain) {
            received += chain.ran();
            running--;
            if (running > 0) {
                return this;
            }
            rounds++;
            if (rounds < reps) {
                begin();
                return this;
            }
            done.accept(new Sample(System.nanoTime() - start, total * reps, sent, received));
            return Behaviors.stopped();
        }
    }

    private static Behavior<Void> link(long left, long ran, ActorRef<ToRoot> root) {
        return Behaviors.setup(context -> {
            root.tell(left == 1 ? new Ended(ran + 1) : new Spawn(left - 1, ran + 1));
            return Behaviors.stopped();
        });
    }
}
