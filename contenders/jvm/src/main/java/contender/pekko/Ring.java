package contender.pekko;

import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** A token that travels around a ring of actors: {@code thread-ring}. */
final class Ring {
    private Ring() {}

    sealed interface ToRoot {}

    private enum Home implements ToRoot {
        INSTANCE
    }

    /** The counts of a member. */
    private record Counted(long sent, long received) implements ToRoot {}

    private sealed interface ToMember {}

    /** Tells the last member the first, which closes the ring. */
    private record Close(ActorRef<ToMember> next) implements ToMember {}

    private record Token(long hops) implements ToMember {}

    private enum Report implements ToMember {
        INSTANCE
    }

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final ArrayList<ActorRef<ToMember>> members = new ArrayList<>();
        private final long n;
        private final Consumer<Sample> done;
        private final long start;
        private long elapsed;
        private long sent = 1;
        private long received;
        private int reports;

        Root(ActorContext<ToRoot> context, Params params, Consumer<Sample> done) {
            super(context);
            n = params.number("n");
            this.done = done;
            ActorRef<ToMember> next = null;
            for (int i = params.count("processes"); i > 0; i--) {
                var following = next;
                next = context.spawnAnonymous(
                        Behaviors.setup(member -> new Member(member, context.getSelf(), following)));
                members.add(next);
            }
            members.getFirst().tell(new Close(next));
            start = System.nanoTime();
            next.tell(new Token(n));
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Home.INSTANCE, this::onHome)
                    .onMessage(Counted.class, this::onCounted)
                    .build();
        }

        private Behavior<ToRoot> onHome() {
            elapsed = System.nanoTime() - start;
            members.forEach(member -> member.tell(Report.INSTANCE));
            return this;
        }

        private Behavior<ToRoot> onCounted(Counted member) {
            sent += member.sent();
            received += member.received();
            reports++;
            if (reports < members.size()) {
                return this;
            }
            done.accept(new Sample(elapsed, n, sent, received));
            return Behaviors.stopped();
        }
    }

    private static final class Member extends AbstractBehavior<ToMember> {
        private final ActorRef<ToRoot> root;
        private ActorRef<ToMember> next;
        private long sent;
        private long received;

        Member(ActorContext<ToMember> context, ActorRef<ToRoot> root, ActorRef<ToMember> next) {
            super(context);
            this.root = root;
            this.next = next;
        }

        @Override
        public Receive<ToMember> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Token.class, this::onToken)
                    .onMessage(Close.class, this::onClose)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToMember> onToken(Token token) {
            received++;
            if (token.hops() == 1) {
                root.tell(Home.INSTANCE);
            } else {
                next.tell(new Token(token.hops() - 1));
                sent++;
            }
            return this;
        }

        private Behavior<ToMember> onClose(Close close) {
            next = close.next();
            return this;
        }

        private Behavior<ToMember> onReport() {
            root.tell(new Counted(sent, received));
            return this;
        }
    }
}
