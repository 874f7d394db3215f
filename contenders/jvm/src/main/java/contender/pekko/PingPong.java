package contender.pekko;

import contender.Delays;
import contender.Sample;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Two actors in lock-step: {@code ping-pong}. Each knows the other from its start. */
final class PingPong {
    private PingPong() {}

    sealed interface ToPinger {}

    record Pong(long round) implements ToPinger {}

    /** The counts of the echoing actor. */
    record Counted(long sent, long received) implements ToPinger {}

    private sealed interface ToEcho {}

    private record Ping(long round) implements ToEcho {}

    private enum Report implements ToEcho {
        INSTANCE
    }

    static Behavior<ToPinger> root(contender.Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Pinger(context, params.number("n"), done));
    }

    private static final class Pinger extends AbstractBehavior<ToPinger> {
        private final long start = System.nanoTime();
        private final Delays delays = new Delays();
        private final ActorRef<ToEcho> echo;
        private final long n;
        private final Consumer<Sample> done;
        private long sent;
        private long received;
        private long elapsed;

        Pinger(ActorContext<ToPinger> context, long n, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.done = done;
            echo = context.spawnAnonymous(Behaviors.setup(echo -> new Echo(echo, context.getSelf())));
            next();
        }

        @Override
        public Receive<ToPinger> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Pong.class, this::onPong)
                    .onMessage(Counted.class, this::onCounted)
                    .build();
        }

        private Behavior<ToPinger> onPong(Pong pong) {
            delays.back(sent - 1);
            if (pong.round() == sent - 1) {
                received++;
            }
            next();
            return this;
        }

        private void next() {
            if (sent < n) {
                delays.start(sent);
                echo.tell(new Ping(sent));
                sent++;
            } else {
                elapsed = System.nanoTime() - start;
                echo.tell(Report.INSTANCE);
            }
        }

        private Behavior<ToPinger> onCounted(Counted other) {
            done.accept(new Sample(elapsed, n, sent + other.sent(), received + other.received())
                    .with(delays.fields()));
            return Behaviors.stopped();
        }
    }

    /** Sends each message back. */
    private static final class Echo extends AbstractBehavior<ToEcho> {
        private final ActorRef<ToPinger> partner;
        private long sent;
        private long received;

        Echo(ActorContext<ToEcho> context, ActorRef<ToPinger> partner) {
            super(context);
            this.partner = partner;
        }

        @Override
        public Receive<ToEcho> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Ping.class, this::onPing)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToEcho> onPing(Ping ping) {
            received++;
            partner.tell(new Pong(ping.round()));
            sent++;
            return this;
        }

        private Behavior<ToEcho> onReport() {
            partner.tell(new Counted(sent, received));
            return this;
        }
    }
}
