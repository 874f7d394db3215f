package contender.pekko;

import contender.Delays;
import contender.Draws;
import contender.Params;
import contender.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.function.Consumer;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Timers that are cancelled, and timers that expire: {@code timers} and {@code timer-expiry}. */
final class Timers {
    /** Duration of the timers that are cancelled. */
    private static final Duration SOON = Duration.ofSeconds(5);

    private Timers() {}

    /** The message of a timer: when it was due. */
    record Expired(long due) {}

    static Behavior<Expired> cancelled(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> {
            long n = params.number("n");
            var order = Draws.cancelOrder(params);
            var alive = new ArrayList<Cancellable>();
            var next = new ArrayList<Cancellable>();
            var message = new Expired(0);
            for (int i = 0; i < order.length; i++) {
                alive.add(context.scheduleOnce(SOON, context.getSelf(), message));
            }
            long sent = 0;
            long received = 0;
            int taken = 0;

            long start = System.nanoTime();
            for (; sent < n; sent++) {
                if (taken == order.length) {
                    var previous = alive;
                    alive = next;
                    next = previous;
                    next.clear();
                    taken = 0;
                }
                if (alive.get(order[taken]).cancel()) {
                    received++;
                }
                taken++;
                next.add(context.scheduleOnce(SOON, context.getSelf(), message));
            }
            long elapsed = System.nanoTime() - start;

            for (; taken < order.length; taken++) {
                next.add(alive.get(order[taken]));
            }
            long waiting = next.stream().filter(Cancellable::cancel).count();
            done.accept(new Sample(elapsed, n, sent, received).with("waiting", waiting));
            return Behaviors.stopped();
        });
    }

    static Behavior<Expired> expiring(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Expiring(context, params, done));
    }

    private static final class Expiring extends AbstractBehavior<Expired> {
        private final Delays late = new Delays();
        private final long n;
        private final boolean timed;
        private final Consumer<Sample> done;
        private final long first;
        private final boolean overdue;
        private long received;

        Expiring(ActorContext<Expired> context, Params params, Consumer<Sample> done) {
            super(context);
            this.done = done;
            n = params.number("n");
            timed = params.number("spread_ms") > 0;
            var within = Draws.dueTimes(params);
            first = System.nanoTime() + params.number("after_ms") * 1_000_000;
            for (long after : within) {
                long due = first + after;
                var delay = Duration.ofNanos(Math.max(due - System.nanoTime(), 0));
                context.scheduleOnce(delay, context.getSelf(), new Expired(due));
            }
            overdue = System.nanoTime() > first;
        }

        @Override
        public Receive<Expired> createReceive() {
            return newReceiveBuilder().onMessage(Expired.class, this::onExpired).build();
        }

        private Behavior<Expired> onExpired(Expired timer) {
            received++;
            if (timed) {
                late.add(System.nanoTime() - timer.due());
            }
            if (received < n) {
                return this;
            }
            done.accept(new Sample(System.nanoTime() - first, n, n, received)
                    .with(late.fields())
                    .with("overdue", overdue ? 1 : 0));
            return Behaviors.stopped();
        }
    }
}
