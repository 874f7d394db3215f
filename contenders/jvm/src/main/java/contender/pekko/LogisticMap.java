package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Savina;
import contender.Savina.Series;
import java.util.ArrayList;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;

/** Series whose terms are computed by other actors: {@code logistic-map}. */
final class LogisticMap {
    private LogisticMap() {}

    sealed interface ToRoot {}

    private enum Continue implements ToRoot {
        INSTANCE
    }

    /** The last term of a series. */
    private record Result(double x) implements ToRoot {}

    private record Counted(long sent, long received) implements ToRoot {}

    private sealed interface ToWorker {}

    private enum Next implements ToWorker {
        INSTANCE
    }

    /** The next term, from the computer. */
    private record Computed(double x) implements ToWorker {}

    private enum Get implements ToWorker {
        INSTANCE
    }

    private sealed interface ToComputer {}

    private record Term(double x, ActorRef<ToWorker> worker) implements ToComputer {}

    private enum Report implements ToComputer, ToWorker {
        INSTANCE
    }

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final ArrayList<ActorRef<ToWorker>> workers = new ArrayList<>();
        private final ArrayList<ActorRef<ToComputer>> computers = new ArrayList<>();
        private final long total;
        private final Consumer<Sample> done;
        private int place;
        private int results;
        private int counted;
        private long elapsed;
        private long sent;
        private long received;
        private long sum;

        Root(ActorContext<ToRoot> context, Params params, Consumer<Sample> done) {
            super(context);
            this.done = done;
            int series = params.count("series");
            total = series * params.number("terms");
            for (int i = 0; i < series; i++) {
                var constants = Series.of(i);
                var computer = context.spawnAnonymous(
                        Behaviors.<ToComputer>setup(computes -> new Computer(computes, constants, context.getSelf())));
                computers.add(computer);
                workers.add(context.spawnAnonymous(Worker.create(constants.start(), computer, context.getSelf())));
            }
            context.getSelf().tell(Continue.INSTANCE);
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Continue.INSTANCE, this::onContinue)
                    .onMessage(Result.class, this::onResult)
                    .onMessage(Counted.class, this::onCounted)
                    .build();
        }

        private Behavior<ToRoot> onContinue() {
            for (long end = Math.min(total, sent + FanIn.QUANTUM); sent < end; sent++) {
                workers.get(place).tell(Next.INSTANCE);
                place++;
                if (place == workers.size()) {
                    place = 0;
                }
            }
            if (sent < total) {
                getContext().getSelf().tell(Continue.INSTANCE);
            } else {
                workers.forEach(worker -> worker.tell(Get.INSTANCE));
            }
            return this;
        }

        private Behavior<ToRoot> onResult(Result result) {
            sum += Savina.scaled(result.x());
            results++;
            if (results == workers.size()) {
                elapsed = System.nanoTime() - start;
                workers.forEach(worker -> worker.tell(Report.INSTANCE));
                computers.forEach(computer -> computer.tell(Report.INSTANCE));
            }
            return this;
        }

        private Behavior<ToRoot> onCounted(Counted other) {
            sent += other.sent();
            received += other.received();
            counted++;
            if (counted < workers.size() + computers.size()) {
                return this;
            }
            done.accept(new Sample(elapsed, total, sent, received).with("sum", sum));
            return Behaviors.stopped();
        }
    }

    /** Stashes all messages while it waits for a term. */
    private static final class Worker extends AbstractBehavior<ToWorker> {
        private final StashBuffer<ToWorker> stash;
        private final ActorRef<ToComputer> computer;
        private final ActorRef<ToRoot> root;
        private boolean waiting;
        private double x;
        private long sent;
        private long received;

        static Behavior<ToWorker> create(double first, ActorRef<ToComputer> computer, ActorRef<ToRoot> root) {
            return Behaviors.withStash(
                    Integer.MAX_VALUE,
                    stash -> Behaviors.setup(context -> new Worker(context, stash, first, computer, root)));
        }

        private Worker(
                ActorContext<ToWorker> context,
                StashBuffer<ToWorker> stash,
                double first,
                ActorRef<ToComputer> computer,
                ActorRef<ToRoot> root) {
            super(context);
            this.stash = stash;
            this.computer = computer;
            this.root = root;
            x = first;
        }

        @Override
        public Receive<ToWorker> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Computed.class, this::onComputed)
                    .onMessage(ToWorker.class, message -> waiting, this::onOther)
                    .onMessageEquals(Next.INSTANCE, this::onNext)
                    .onMessageEquals(Get.INSTANCE, this::onGet)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToWorker> onNext() {
            received++;
            computer.tell(new Term(x, getContext().getSelf()));
            sent++;
            waiting = true;
            return this;
        }

        private Behavior<ToWorker> onOther(ToWorker message) {
            stash.stash(message);
            return this;
        }

        private Behavior<ToWorker> onComputed(Computed term) {
            received++;
            x = term.x();
            waiting = false;
            // WHY one by one: of a whole stash, all messages after the first would be stashed again.
            while (!waiting && stash.nonEmpty()) {
                stash.unstash(this, 1, message -> message);
            }
            return this;
        }

        private Behavior<ToWorker> onGet() {
            root.tell(new Result(x));
            return this;
        }

        private Behavior<ToWorker> onReport() {
            root.tell(new Counted(sent, received));
            return this;
        }
    }

    private static final class Computer extends AbstractBehavior<ToComputer> {
        private final Series series;
        private final ActorRef<ToRoot> root;
        private long terms;

        Computer(ActorContext<ToComputer> context, Series series, ActorRef<ToRoot> root) {
            super(context);
            this.series = series;
            this.root = root;
        }

        @Override
        public Receive<ToComputer> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Term.class, this::onTerm)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToComputer> onTerm(Term term) {
            terms++;
            term.worker().tell(new Computed(series.next(term.x())));
            return this;
        }

        private Behavior<ToComputer> onReport() {
            root.tell(new Counted(terms, terms));
            return this;
        }
    }
}
