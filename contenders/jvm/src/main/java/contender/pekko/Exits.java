package contender.pekko;

import contender.Params;
import contender.Sample;
import java.time.Duration;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Watched and supervised actors: {@code monitor-churn} and {@code restart}. */
final class Exits {
    private Exits() {}

    static Behavior<Void> monitorChurn(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Watcher(context, params.number("n"), done).next());
    }

    private static final class Watcher extends AbstractBehavior<Void> {
        private final long start = System.nanoTime();
        private final long n;
        private final Consumer<Sample> done;
        private ActorRef<Void> watched;
        private long sent;
        private long received;

        Watcher(ActorContext<Void> context, long n, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.done = done;
        }

        @Override
        public Receive<Void> createReceive() {
            return newReceiveBuilder()
                    .onSignal(ChildFailed.class, failed -> next())
                    .onSignal(Terminated.class, this::onTerminated)
                    .build();
        }

        private Behavior<Void> onTerminated(Terminated ended) {
            if (ended.getRef().equals(watched)) {
                received++;
            }
            return next();
        }

        private Behavior<Void> next() {
            if (sent == n) {
                done.accept(new Sample(System.nanoTime() - start, n, sent, received));
                return Behaviors.stopped();
            }
            watched = getContext().spawnAnonymous(Behaviors.setup(child -> Behaviors.stopped()));
            getContext().watch(watched);
            sent++;
            return this;
        }
    }

    sealed interface ToRoot {}

    private enum Initialised implements ToRoot {
        INSTANCE
    }

    private enum Alive implements ToRoot {
        INSTANCE
    }

    private enum ToChild {
        CRASH,
        REPORT
    }

    static Behavior<ToRoot> restart(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Supervisor(context, params.count("n"), params.number("reps"), done));
    }

    /** Spawns a supervised child, makes it crash n times, and counts its restarts. */
    private static final class Supervisor extends AbstractBehavior<ToRoot> {
        private final int n;
        private final long reps;
        private final Consumer<Sample> done;
        private ActorRef<ToChild> child;
        private int crashes;
        private long rounds;
        private long start;
        private long elapsed;
        private long restarted;
        private long alive;

        Supervisor(ActorContext<ToRoot> context, int n, long reps, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.reps = reps;
            this.done = done;
            begin();
        }

        private void begin() {
            crashes = 0;
            start = 0;
            var strategy = SupervisorStrategy.restart()
                    .withLimit(Math.max(n, 1), Duration.ofSeconds(1))
                    .withLoggingEnabled(false);
            child = getContext()
                    .spawnAnonymous(Behaviors.supervise(crashing(getContext().getSelf()))
                            .onFailure(Crash.class, strategy));
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Initialised.INSTANCE, this::onInitialised)
                    .onMessageEquals(Alive.INSTANCE, this::onAlive)
                    .build();
        }

        private Behavior<ToRoot> onInitialised() {
            if (start == 0) {
                start = System.nanoTime();
            } else {
                restarted++;
            }
            if (crashes < n) {
                crashes++;
                child.tell(ToChild.CRASH);
            } else {
                elapsed += System.nanoTime() - start;
                child.tell(ToChild.REPORT);
            }
            return this;
        }

        private Behavior<ToRoot> onAlive() {
            alive++;
            rounds++;
            getContext().stop(child);
            if (rounds < reps) {
                begin();
                return this;
            }
            done.accept(new Sample(elapsed, n * reps, n * reps, restarted).with("alive", alive));
            return Behaviors.stopped();
        }
    }

    /** Exception without a stack trace: other runtimes record none either. */
    private static final class Crash extends RuntimeException {
        Crash() {
            super("told to end", null, false, false);
        }
    }

    private static Behavior<ToChild> crashing(ActorRef<ToRoot> root) {
        return Behaviors.setup(context -> {
            root.tell(Initialised.INSTANCE);
            return Behaviors.receive(ToChild.class)
                    .onMessageEquals(ToChild.CRASH, () -> {
                        throw new Crash();
                    })
                    .onMessageEquals(ToChild.REPORT, () -> {
                        root.tell(Alive.INSTANCE);
                        return Behaviors.same();
                    })
                    .build();
        });
    }
}
