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

/** Actors spawned by one actor, and by a tree of actors: {@code fork-join} and {@code skynet}. */
final class Trees {
    /** Number of children of each inner node. */
    private static final int CHILDREN = 10;

    private Trees() {}

    sealed interface ToParent {}

    private enum Continue implements ToParent {
        INSTANCE
    }

    /** What a node reports: the sum over its leaves, and their number. */
    private record Report(long sum, long leaves) implements ToParent {}

    static Behavior<ToParent> forkJoin(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Forking(context, params.number("n"), done));
    }

    /** Spawns n leaves and counts their reports. */
    private static final class Forking extends AbstractBehavior<ToParent> {
        private final long start = System.nanoTime();
        private final long n;
        private final Consumer<Sample> done;
        private long sent;
        private long received;

        Forking(ActorContext<ToParent> context, long n, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.done = done;
            context.getSelf().tell(Continue.INSTANCE);
        }

        @Override
        public Receive<ToParent> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Report.class, this::onReport)
                    .onMessageEquals(Continue.INSTANCE, this::onContinue)
                    .build();
        }

        private Behavior<ToParent> onContinue() {
            for (long end = Math.min(n, sent + FanIn.QUANTUM); sent < end; sent++) {
                getContext().spawnAnonymous(leaf(sent, getContext().getSelf()));
            }
            if (sent < n) {
                getContext().getSelf().tell(Continue.INSTANCE);
                return this;
            }
            return joined();
        }

        private Behavior<ToParent> onReport(Report leaf) {
            received += leaf.leaves();
            return joined();
        }

        private Behavior<ToParent> joined() {
            if (sent < n || received < n) {
                return this;
            }
            done.accept(new Sample(System.nanoTime() - start, n, sent, received));
            return Behaviors.stopped();
        }
    }

    private static Behavior<Void> leaf(long ordinal, ActorRef<ToParent> parent) {
        return Behaviors.setup(context -> {
            parent.tell(new Report(ordinal, 1));
            return Behaviors.stopped();
        });
    }

    static Behavior<ToParent> skynet(Params params, Consumer<Sample> done) {
        long start = System.nanoTime();
        long leaves = params.number("leaves");
        return Behaviors.setup(context -> {
            spawn(context, 0, leaves);
            return Behaviors.receive(ToParent.class)
                    .onMessage(Report.class, whole -> {
                        done.accept(new Sample(System.nanoTime() - start, leaves, leaves, whole.leaves())
                                .with("sum", whole.sum()));
                        return Behaviors.stopped();
                    })
                    .build();
        });
    }

    /** Spawns the node over these leaves. */
    private static void spawn(ActorContext<ToParent> parent, long first, long leaves) {
        if (leaves == 1) {
            parent.spawnAnonymous(leaf(first, parent.getSelf()));
        } else {
            parent.spawnAnonymous(Behaviors.<ToParent>setup(node -> new Node(node, first, leaves, parent.getSelf())));
        }
    }

    private static final class Node extends AbstractBehavior<ToParent> {
        private final ActorRef<ToParent> parent;
        private int reports;
        private long sum;
        private long leaves;

        Node(ActorContext<ToParent> context, long first, long size, ActorRef<ToParent> parent) {
            super(context);
            this.parent = parent;
            long each = size / CHILDREN;
            for (int child = 0; child < CHILDREN; child++) {
                spawn(context, first + child * each, each);
            }
        }

        @Override
        public Receive<ToParent> createReceive() {
            return newReceiveBuilder().onMessage(Report.class, this::onReport).build();
        }

        private Behavior<ToParent> onReport(Report part) {
            sum += part.sum();
            leaves += part.leaves();
            reports++;
            if (reports < CHILDREN) {
                return this;
            }
            parent.tell(new Report(sum, leaves));
            return Behaviors.stopped();
        }
    }
}
