package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Work;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Producers and consumers at the manager of a buffer: {@code bounded-buffer}. */
final class BoundedBuffer {
    private BoundedBuffer() {}

    sealed interface ToRoot {}

    private record Produced(long items) implements ToRoot {}

    private record Consumed(long items, long sum) implements ToRoot {}

    private sealed interface ToManager {}

    private record Put(long item, ActorRef<Accepted> producer) implements ToManager {}

    private record Get(ActorRef<ToConsumer> consumer) implements ToManager {}

    private enum Accepted {
        INSTANCE
    }

    private sealed interface ToConsumer {}

    private record Item(long item) implements ToConsumer {}

    private enum End implements ToConsumer {
        INSTANCE
    }

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final long total;
        private final Consumer<Sample> done;
        private long elapsed;
        private int producing;
        private int consuming;
        private long sent;
        private long received;
        private long sink;

        Root(ActorContext<ToRoot> context, Params params, Consumer<Sample> done) {
            super(context);
            this.done = done;
            producing = params.count("producers");
            consuming = params.count("consumers");
            long cost = params.number("cost");
            long n = params.number("n");
            total = producing * n;
            int room = params.count("capacity") - producing;
            var manager = context.spawnAnonymous(
                    Behaviors.<ToManager>setup(manages -> new Manager(manages, room, total)));
            for (int i = 0; i < consuming; i++) {
                context.spawnAnonymous(
                        Behaviors.<ToConsumer>setup(gets -> new Getting(gets, manager, context.getSelf(), cost)));
            }
            for (int i = 0; i < producing; i++) {
                context.spawnAnonymous(Producing.create(manager, context.getSelf(), cost, n));
            }
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Produced.class, this::onProduced)
                    .onMessage(Consumed.class, this::onConsumed)
                    .build();
        }

        private Behavior<ToRoot> onProduced(Produced producer) {
            sent += producer.items();
            producing--;
            return next();
        }

        private Behavior<ToRoot> onConsumed(Consumed consumer) {
            received += consumer.items();
            sink = (sink + consumer.sum()) & 0x7fffffff;
            consuming--;
            if (consuming == 0) {
                elapsed = System.nanoTime() - start;
            }
            return next();
        }

        private Behavior<ToRoot> next() {
            if (producing > 0 || consuming > 0) {
                return this;
            }
            done.accept(new Sample(elapsed, total, sent, received).with("sink", sink));
            return Behaviors.stopped();
        }
    }

    /** Puts the next item when the last one is accepted. */
    private static final class Producing extends AbstractBehavior<Accepted> {
        private final ActorRef<ToManager> manager;
        private final ActorRef<ToRoot> root;
        private final long cost;
        private final long n;
        private long item = Work.START;
        private long produced;

        static Behavior<Accepted> create(ActorRef<ToManager> manager, ActorRef<ToRoot> root, long cost, long n) {
            return Behaviors.setup(context -> new Producing(context, manager, root, cost, n).next());
        }

        private Producing(
                ActorContext<Accepted> context,
                ActorRef<ToManager> manager,
                ActorRef<ToRoot> root,
                long cost,
                long n) {
            super(context);
            this.manager = manager;
            this.root = root;
            this.cost = cost;
            this.n = n;
        }

        @Override
        public Receive<Accepted> createReceive() {
            return newReceiveBuilder().onMessage(Accepted.class, this::onAccepted).build();
        }

        private Behavior<Accepted> onAccepted(Accepted message) {
            produced++;
            return next();
        }

        private Behavior<Accepted> next() {
            if (produced == n) {
                root.tell(new Produced(produced));
                return Behaviors.stopped();
            }
            item = Work.work(item, cost);
            manager.tell(new Put(item, getContext().getSelf()));
            return this;
        }
    }

    /** Gets items until the end. */
    private static final class Getting extends AbstractBehavior<ToConsumer> {
        private final ActorRef<ToManager> manager;
        private final ActorRef<ToRoot> root;
        private final long cost;
        private long items;
        private long sum;

        Getting(ActorContext<ToConsumer> context, ActorRef<ToManager> manager, ActorRef<ToRoot> root, long cost) {
            super(context);
            this.manager = manager;
            this.root = root;
            this.cost = cost;
            manager.tell(new Get(context.getSelf()));
        }

        @Override
        public Receive<ToConsumer> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Item.class, this::onItem)
                    .onMessageEquals(End.INSTANCE, this::onEnd)
                    .build();
        }

        private Behavior<ToConsumer> onItem(Item message) {
            sum = (sum + Work.work(message.item(), cost)) & 0x7fffffff;
            items++;
            manager.tell(new Get(getContext().getSelf()));
            return this;
        }

        private Behavior<ToConsumer> onEnd() {
            root.tell(new Consumed(items, sum));
            return Behaviors.stopped();
        }
    }

    /** Passes on a number of items, and then tells all consumers that there are no more. */
    private static final class Manager extends AbstractBehavior<ToManager> {
        private final ArrayDeque<Item> items = new ArrayDeque<>();
        private final ArrayDeque<ActorRef<Accepted>> waiting = new ArrayDeque<>();
        private final ArrayDeque<ActorRef<ToConsumer>> idle = new ArrayDeque<>();
        private final int room;
        private long left;

        Manager(ActorContext<ToManager> context, int room, long total) {
            super(context);
            this.room = room;
            left = total;
        }

        @Override
        public Receive<ToManager> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Put.class, this::onPut)
                    .onMessage(Get.class, this::onGet)
                    .build();
        }

        private Behavior<ToManager> onPut(Put put) {
            var item = new Item(put.item());
            if (idle.isEmpty()) {
                items.add(item);
            } else {
                idle.remove().tell(item);
                left--;
            }
            if (items.size() < room) {
                put.producer().tell(Accepted.INSTANCE);
            } else {
                waiting.add(put.producer());
            }
            return next();
        }

        private Behavior<ToManager> onGet(Get get) {
            if (items.isEmpty()) {
                idle.add(get.consumer());
            } else {
                get.consumer().tell(items.remove());
                left--;
                if (!waiting.isEmpty()) {
                    waiting.remove().tell(Accepted.INSTANCE);
                }
            }
            return next();
        }

        private Behavior<ToManager> next() {
            while (left == 0 && !idle.isEmpty()) {
                idle.remove().tell(End.INSTANCE);
            }
            return this;
        }
    }
}
