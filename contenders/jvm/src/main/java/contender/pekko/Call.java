package contender.pekko;

import contender.Delays;
import contender.Params;
import contender.Sample;
import java.time.Duration;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Request and reply by {@code ActorContext.ask}: {@code call}. */
final class Call {
    /** Timeout of a call: the default of gen_server:call. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private Call() {}

    sealed interface ToCaller {}

    private record Answered(long round) implements ToCaller {}

    private record TimedOut() implements ToCaller {}

    /** The counts of the server. */
    private record Counted(long sent, long received) implements ToCaller {}

    private sealed interface ToServer {}

    private record Request(long round, ActorRef<Reply> replyTo) implements ToServer {}

    private record Report(ActorRef<ToCaller> replyTo) implements ToServer {}

    private record Reply(long round) {}

    static Behavior<ToCaller> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Caller(context, params.number("n"), done));
    }

    private static final class Caller extends AbstractBehavior<ToCaller> {
        private final long start = System.nanoTime();
        private final Delays delays = new Delays();
        private final ActorRef<ToServer> server;
        private final long n;
        private final Consumer<Sample> done;
        private long sent;
        private long received;
        private long elapsed;

        Caller(ActorContext<ToCaller> context, long n, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.done = done;
            server = context.spawnAnonymous(Behaviors.setup(Server::new));
            next();
        }

        @Override
        public Receive<ToCaller> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Answered.class, this::onAnswered)
                    .onMessage(TimedOut.class, this::onTimedOut)
                    .onMessage(Counted.class, this::onCounted)
                    .build();
        }

        private void next() {
            if (sent == n) {
                elapsed = System.nanoTime() - start;
                server.tell(new Report(getContext().getSelf()));
                return;
            }
            long round = sent++;
            delays.start(round);
            getContext()
                    .ask(
                            Reply.class,
                            server,
                            TIMEOUT,
                            (ActorRef<Reply> replyTo) -> new Request(round, replyTo),
                            (reply, failure) -> failure == null ? new Answered(reply.round()) : new TimedOut());
        }

        private Behavior<ToCaller> onAnswered(Answered answer) {
            delays.back(sent - 1);
            if (answer.round() == sent - 1) {
                received++;
            }
            next();
            return this;
        }

        private Behavior<ToCaller> onTimedOut(TimedOut failure) {
            next();
            return this;
        }

        private Behavior<ToCaller> onCounted(Counted other) {
            done.accept(new Sample(elapsed, n, sent + other.sent(), received + other.received())
                    .with(delays.fields()));
            return Behaviors.stopped();
        }
    }

    private static final class Server extends AbstractBehavior<ToServer> {
        private long sent;
        private long received;

        Server(ActorContext<ToServer> context) {
            super(context);
        }

        @Override
        public Receive<ToServer> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Request.class, this::onRequest)
                    .onMessage(Report.class, this::onReport)
                    .build();
        }

        private Behavior<ToServer> onRequest(Request request) {
            received++;
            request.replyTo().tell(new Reply(request.round()));
            sent++;
            return this;
        }

        private Behavior<ToServer> onReport(Report report) {
            report.replyTo().tell(new Counted(sent, received));
            return this;
        }
    }
}
