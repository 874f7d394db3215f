package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Side;
import java.util.List;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * Two actors that compute and exchange messages: {@code exchange},
 * {@code message-size}, {@code bandwidth} and {@code message-moved}.
 */
final class Exchange {
    private Exchange() {}

    enum ToRoot {
        READY,
        FINISHED
    }

    private sealed interface ToWorker {}

    private record Start(ActorRef<ToWorker> partner) implements ToWorker {}

    /** Requests the next piece of work; a worker sends it to itself. */
    private enum Piece implements ToWorker {
        INSTANCE
    }

    /** A message of the partner; a short one has no list. */
    private record Parcel(long[] list) implements ToWorker {}

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final Side.Pairs pairs;
        private final Consumer<Sample> done;
        private long left;
        private List<Side> sides;
        private List<ActorRef<ToWorker>> workers;
        private int ready;
        private int finished;
        private long start;

        Root(ActorContext<ToRoot> context, Params params, Consumer<Sample> done) {
            super(context);
            this.done = done;
            pairs = new Side.Pairs(params);
            left = params.number("reps");
            begin();
        }

        private void begin() {
            ready = 0;
            finished = 0;
            sides = pairs.next();
            workers = sides.stream()
                    .map(side -> getContext()
                            .spawnAnonymous(Behaviors.<ToWorker>setup(
                                    worker -> new Worker(worker, side, getContext().getSelf()))))
                    .toList();
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(ToRoot.READY, this::onReady)
                    .onMessageEquals(ToRoot.FINISHED, this::onFinished)
                    .build();
        }

        private Behavior<ToRoot> onReady() {
            ready++;
            if (ready == workers.size()) {
                start = System.nanoTime();
                workers.get(0).tell(new Start(workers.get(1)));
                workers.get(1).tell(new Start(workers.get(0)));
            }
            return this;
        }

        private Behavior<ToRoot> onFinished() {
            finished++;
            if (finished < workers.size()) {
                return this;
            }
            pairs.add(System.nanoTime() - start, sides);
            left--;
            if (left > 0) {
                begin();
                return this;
            }
            done.accept(pairs.sample());
            return Behaviors.stopped();
        }
    }

    private static final class Worker extends AbstractBehavior<ToWorker> {
        private final Side side;
        private final ActorRef<ToRoot> root;
        private ActorRef<ToWorker> partner;

        Worker(ActorContext<ToWorker> context, Side side, ActorRef<ToRoot> root) {
            super(context);
            this.side = side;
            this.root = root;
            root.tell(ToRoot.READY);
        }

        @Override
        public Receive<ToWorker> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Parcel.class, this::onParcel)
                    .onMessageEquals(Piece.INSTANCE, this::onPiece)
                    .onMessage(Start.class, this::onStart)
                    .build();
        }

        private Behavior<ToWorker> onStart(Start start) {
            partner = start.partner();
            return onPiece();
        }

        private Behavior<ToWorker> onPiece() {
            for (long due = side.work(); due > 0; due--) {
                partner.tell(new Parcel(side.supply()));
            }
            if (side.hasWork()) {
                getContext().getSelf().tell(Piece.INSTANCE);
                return this;
            }
            return ended();
        }

        private Behavior<ToWorker> onParcel(Parcel parcel) {
            side.accept(parcel.list());
            return ended();
        }

        private Behavior<ToWorker> ended() {
            if (!side.isDone()) {
                return this;
            }
            root.tell(ToRoot.FINISHED);
            return Behaviors.stopped();
        }
    }
}
