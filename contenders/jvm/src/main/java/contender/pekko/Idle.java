package contender.pekko;

import contender.Params;
import contender.Sample;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Idle actors: {@code idle-memory}. */
final class Idle {
    /** Maximum number of idle actors spawned before the root receives their reports. */
    private static final int AT_ONCE = 1000;

    private Idle() {}

    enum Ready {
        INSTANCE
    }

    static Behavior<Ready> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params.number("n"), done));
    }

    private static final class Root extends AbstractBehavior<Ready> {
        private final long start = System.nanoTime();
        private final long n;
        private final Consumer<Sample> done;
        private long sent;
        private long received;

        Root(ActorContext<Ready> context, long n, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.done = done;
            next();
        }

        @Override
        public Receive<Ready> createReceive() {
            return newReceiveBuilder().onMessageEquals(Ready.INSTANCE, this::onReady).build();
        }

        private Behavior<Ready> onReady() {
            received++;
            if (received == sent) {
                next();
            }
            return this;
        }

        private void next() {
            if (sent == n) {
                done.accept(new Sample(System.nanoTime() - start, n, sent, received));
                return;
            }
            for (long end = Math.min(n, sent + AT_ONCE); sent < end; sent++) {
                getContext().spawnAnonymous(idle(getContext().getSelf()));
            }
        }
    }

    /** Reports that it runs, and waits for a message. */
    private static Behavior<Void> idle(ActorRef<Ready> root) {
        return Behaviors.setup(context -> {
            root.tell(Ready.INSTANCE);
            return Behaviors.empty();
        });
    }
}
