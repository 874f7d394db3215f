package contender.pekko;

import contender.Draws;
import contender.Params;
import contender.Sample;
import contender.Savina;
import contender.Savina.Lookup;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Workers that ask the actor which owns a map: {@code dictionary}. */
final class Dictionary {
    private Dictionary() {}

    sealed interface ToRoot {}

    private record Worked(long sent, long received) implements ToRoot {}

    private record Served(long requests, long writes) implements ToRoot {}

    private sealed interface ToDictionary {}

    private record Read(int key, ActorRef<Value> worker) implements ToDictionary {}

    private record Write(int key, int value, ActorRef<Value> worker) implements ToDictionary {}

    private enum Report implements ToDictionary {
        INSTANCE
    }

    private record Value(int value) {}

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        var map = Savina.dictionary();
        return Behaviors.setup(context -> new Root(context, map, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final long ops;
        private final Consumer<Sample> done;
        private final ActorRef<ToDictionary> dictionary;
        private int working;
        private long elapsed;
        private long sent;
        private long received;

        Root(ActorContext<ToRoot> context, Map<Integer, Integer> map, Params params, Consumer<Sample> done) {
            super(context);
            this.done = done;
            working = params.count("workers");
            long writes = params.number("writes");
            long n = params.number("n");
            ops = working * n;
            dictionary = context.spawnAnonymous(Behaviors.setup(owns -> new Owner(owns, map, context.getSelf())));
            for (int i = 0; i < working; i++) {
                context.spawnAnonymous(Worker.create(i, writes, n, dictionary, context.getSelf()));
            }
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Worked.class, this::onWorked)
                    .onMessage(Served.class, this::onServed)
                    .build();
        }

        private Behavior<ToRoot> onWorked(Worked worker) {
            sent += worker.sent();
            received += worker.received();
            working--;
            if (working == 0) {
                elapsed = System.nanoTime() - start;
                dictionary.tell(Report.INSTANCE);
            }
            return this;
        }

        private Behavior<ToRoot> onServed(Served all) {
            done.accept(new Sample(elapsed, ops, sent + all.requests(), received + all.requests())
                    .with("writes", all.writes()));
            return Behaviors.stopped();
        }
    }

    private static final class Worker extends AbstractBehavior<Value> {
        private final Draws draws;
        private final long writes;
        private final long n;
        private final ActorRef<ToDictionary> dictionary;
        private final ActorRef<ToRoot> root;
        private Lookup asked;
        private long sent;
        private long received;

        static Behavior<Value> create(
                int number, long writes, long n, ActorRef<ToDictionary> dictionary, ActorRef<ToRoot> root) {
            return Behaviors.setup(context -> new Worker(context, number, writes, n, dictionary, root).next());
        }

        private Worker(
                ActorContext<Value> context,
                int number,
                long writes,
                long n,
                ActorRef<ToDictionary> dictionary,
                ActorRef<ToRoot> root) {
            super(context);
            draws = new Draws(number);
            this.writes = writes;
            this.n = n;
            this.dictionary = dictionary;
            this.root = root;
        }

        @Override
        public Receive<Value> createReceive() {
            return newReceiveBuilder().onMessage(Value.class, this::onValue).build();
        }

        private Behavior<Value> onValue(Value answer) {
            if (asked.accepts(answer.value())) {
                received++;
            }
            return next();
        }

        private Behavior<Value> next() {
            if (sent == n) {
                root.tell(new Worked(sent, received));
                return Behaviors.stopped();
            }
            asked = Lookup.next(draws, writes);
            var self = getContext().getSelf();
            dictionary.tell(
                    asked.value() == null ? new Read(asked.key(), self) : new Write(asked.key(), asked.value(), self));
            sent++;
            return this;
        }
    }

    private static final class Owner extends AbstractBehavior<ToDictionary> {
        private final Map<Integer, Integer> map;
        private final ActorRef<ToRoot> root;
        private long requests;
        private long writes;

        Owner(ActorContext<ToDictionary> context, Map<Integer, Integer> map, ActorRef<ToRoot> root) {
            super(context);
            this.map = map;
            this.root = root;
        }

        @Override
        public Receive<ToDictionary> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Read.class, this::onRead)
                    .onMessage(Write.class, this::onWrite)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToDictionary> onRead(Read read) {
            requests++;
            read.worker().tell(new Value(map.get(read.key())));
            return this;
        }

        private Behavior<ToDictionary> onWrite(Write write) {
            requests++;
            writes++;
            map.put(write.key(), write.value());
            write.worker().tell(new Value(write.value()));
            return this;
        }

        private Behavior<ToDictionary> onReport() {
            root.tell(new Served(requests, writes));
            return this;
        }
    }
}
