package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Trips;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Round trips while other actors compute without pause: {@code hog}. */
final class Hog {
    private Hog() {}

    private sealed interface ToFirst {}

    private record Start(long due) implements ToFirst {}

    private record Back(long start) implements ToFirst {}

    /** The run is over, after this many ns. */
    private record End(long elapsed) implements ToFirst {}

    private record Trip(long start) {}

    /** Pekko's scheduler starts the trips, by a timer each. */
    static Sample run(ActorSystem<Lab.Start> system, Params params) throws Exception {
        var trips = new Trips(params);
        var ready = new CompletableFuture<ActorRef<ToFirst>>();
        var running = Lab.start(
                system,
                done -> Behaviors.<ToFirst>setup(context -> {
                    var first = new First(context, trips, done);
                    for (long hogs = params.number("hogs"); hogs > 0; hogs--) {
                        context.spawnAnonymous(busy(trips));
                    }
                    ready.complete(context.getSelf());
                    return first;
                }));
        var first = ready.get();
        long elapsed = trips.run(due -> system.scheduler()
                .scheduleOnce(
                        Duration.ofNanos(Math.max(due - System.nanoTime(), 0)),
                        () -> first.tell(new Start(due)),
                        system.executionContext()));
        first.tell(new End(elapsed));
        return running.result();
    }

    /** Makes the trips. */
    private static final class First extends AbstractBehavior<ToFirst> {
        private final Trips trips;
        private final Consumer<Sample> done;
        private final ActorRef<Trip> partner;

        First(ActorContext<ToFirst> context, Trips trips, Consumer<Sample> done) {
            super(context);
            this.trips = trips;
            this.done = done;
            partner = context.spawnAnonymous(partner(context.getSelf()));
        }

        @Override
        public Receive<ToFirst> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Start.class, this::onStart)
                    .onMessage(Back.class, this::onBack)
                    .onMessage(End.class, this::onEnd)
                    .build();
        }

        private Behavior<ToFirst> onStart(Start start) {
            partner.tell(new Trip(trips.started(start.due())));
            return this;
        }

        private Behavior<ToFirst> onBack(Back back) {
            long next = trips.back(back.start());
            if (next != 0) {
                partner.tell(new Trip(next));
            }
            return this;
        }

        private Behavior<ToFirst> onEnd(End end) {
            done.accept(trips.sample(end.elapsed()));
            return Behaviors.stopped();
        }
    }

    /** Sends each message back. */
    private static Behavior<Trip> partner(ActorRef<ToFirst> first) {
        return Behaviors.receive(Trip.class)
                .onMessage(Trip.class, trip -> {
                    first.tell(new Back(trip.start()));
                    return Behaviors.same();
                })
                .build();
    }

    /** Computes until the run is stopped. */
    private static Behavior<Void> busy(Trips trips) {
        return Behaviors.setup(context -> {
            trips.compute();
            return Behaviors.stopped();
        });
    }
}
