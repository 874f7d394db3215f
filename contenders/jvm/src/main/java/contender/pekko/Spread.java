package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Savina.Calibration;
import contender.Work;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Actors that ask one server and compute in turn: {@code spread}. */
final class Spread {
    private Spread() {}

    sealed interface ToRoot {}

    /** Report of a process: its requests, the replies to them, and its final x. */
    private record Computed(long sent, long received, long x) implements ToRoot {}

    private record Served(long requests) implements ToRoot {}

    private sealed interface ToServer {}

    private record Request(long round, ActorRef<Reply> replyTo) implements ToServer {}

    private enum Report implements ToServer {
        INSTANCE
    }

    private record Reply(long round) {}

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> {
            var calibration = Calibration.measure(params.number("us"));
            return new Root(context, calibration, params, done);
        });
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final Calibration calibration;
        private final long ops;
        private final Consumer<Sample> done;
        private final ActorRef<ToServer> server;
        private int computing;
        private long elapsed;
        private long sent;
        private long received;
        private long sink;

        Root(ActorContext<ToRoot> context, Calibration calibration, Params params, Consumer<Sample> done) {
            super(context);
            this.calibration = calibration;
            this.done = done;
            computing = params.count("processes");
            long n = params.number("n");
            ops = computing * n;
            server = context.spawnAnonymous(Behaviors.setup(serves -> new Server(serves, context.getSelf())));
            for (int i = 0; i < computing; i++) {
                context.spawnAnonymous(Process.create(n, calibration.steps(), server, context.getSelf()));
            }
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Computed.class, this::onComputed)
                    .onMessage(Served.class, this::onServed)
                    .build();
        }

        private Behavior<ToRoot> onComputed(Computed process) {
            sent += process.sent();
            received += process.received();
            sink += process.x();
            computing--;
            if (computing == 0) {
                elapsed = System.nanoTime() - start;
                server.tell(Report.INSTANCE);
            }
            return this;
        }

        private Behavior<ToRoot> onServed(Served all) {
            done.accept(new Sample(elapsed, ops, sent + all.requests(), received + all.requests())
                    .with(calibration.fields(sink)));
            return Behaviors.stopped();
        }
    }

    private static final class Process extends AbstractBehavior<Reply> {
        private final long n;
        private final long steps;
        private final ActorRef<ToServer> server;
        private final ActorRef<ToRoot> root;
        private long x = Work.START;
        private long sent;
        private long received;

        static Behavior<Reply> create(long n, long steps, ActorRef<ToServer> server, ActorRef<ToRoot> root) {
            return Behaviors.setup(context -> new Process(context, n, steps, server, root).next());
        }

        private Process(
                ActorContext<Reply> context, long n, long steps, ActorRef<ToServer> server, ActorRef<ToRoot> root) {
            super(context);
            this.n = n;
            this.steps = steps;
            this.server = server;
            this.root = root;
        }

        @Override
        public Receive<Reply> createReceive() {
            return newReceiveBuilder().onMessage(Reply.class, this::onReply).build();
        }

        private Behavior<Reply> onReply(Reply reply) {
            if (reply.round() == sent - 1) {
                received++;
            }
            x = Work.work(x, steps);
            return next();
        }

        private Behavior<Reply> next() {
            if (sent == n) {
                root.tell(new Computed(sent, received, x));
                return Behaviors.stopped();
            }
            server.tell(new Request(sent, getContext().getSelf()));
            sent++;
            return this;
        }
    }

    private static final class Server extends AbstractBehavior<ToServer> {
        private final ActorRef<ToRoot> root;
        private long requests;

        Server(ActorContext<ToServer> context, ActorRef<ToRoot> root) {
            super(context);
            this.root = root;
        }

        @Override
        public Receive<ToServer> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Request.class, this::onRequest)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToServer> onRequest(Request request) {
            requests++;
            request.replyTo().tell(new Reply(request.round()));
            return this;
        }

        private Behavior<ToServer> onReport() {
            root.tell(new Served(requests));
            return this;
        }
    }
}
