package contender.pekko;

import contender.Draws;
import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Actors that ping each other at random: {@code big}. */
final class Big {
    private Big() {}

    sealed interface ToRoot {}

    private enum Finished implements ToRoot {
        INSTANCE
    }

    private record Counted(long sent, long received) implements ToRoot {}

    private sealed interface ToMember {}

    /** Begin to ping these members. */
    private record Start(List<ActorRef<ToMember>> members) implements ToMember {}

    private record Ping(ActorRef<ToMember> from) implements ToMember {}

    private enum Pong implements ToMember {
        INSTANCE
    }

    private enum End implements ToMember {
        INSTANCE
    }

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final List<ActorRef<ToMember>> members;
        private final long ops;
        private final Consumer<Sample> done;
        private int finished;
        private int counted;
        private long elapsed;
        private long sent;
        private long received;

        Root(ActorContext<ToRoot> context, Params params, Consumer<Sample> done) {
            super(context);
            this.done = done;
            int processes = params.count("processes");
            long n = params.number("n");
            ops = processes * n;
            var spawned = new ArrayList<ActorRef<ToMember>>();
            for (int i = 0; i < processes; i++) {
                int number = i;
                spawned.add(context.spawnAnonymous(
                        Behaviors.setup(pings -> new Member(pings, number, n, context.getSelf()))));
            }
            members = List.copyOf(spawned);
            var begin = new Start(members);
            members.forEach(member -> member.tell(begin));
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Finished.INSTANCE, this::onFinished)
                    .onMessage(Counted.class, this::onCounted)
                    .build();
        }

        private Behavior<ToRoot> onFinished() {
            finished++;
            if (finished == members.size()) {
                elapsed = System.nanoTime() - start;
                members.forEach(member -> member.tell(End.INSTANCE));
            }
            return this;
        }

        private Behavior<ToRoot> onCounted(Counted member) {
            sent += member.sent();
            received += member.received();
            counted++;
            if (counted < members.size()) {
                return this;
            }
            done.accept(new Sample(elapsed, ops, sent, received));
            return Behaviors.stopped();
        }
    }

    private static final class Member extends AbstractBehavior<ToMember> {
        private final Draws draws;
        private final ActorRef<ToRoot> root;
        private List<ActorRef<ToMember>> members;
        private long left;
        private long sent;
        private long received;

        Member(ActorContext<ToMember> context, int number, long n, ActorRef<ToRoot> root) {
            super(context);
            draws = new Draws(number);
            left = n;
            this.root = root;
        }

        @Override
        public Receive<ToMember> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Ping.class, this::onPing)
                    .onMessageEquals(Pong.INSTANCE, this::onPong)
                    .onMessage(Start.class, this::onStart)
                    .onMessageEquals(End.INSTANCE, this::onEnd)
                    .build();
        }

        private Behavior<ToMember> onStart(Start start) {
            members = start.members();
            return next();
        }

        private Behavior<ToMember> onPing(Ping ping) {
            received++;
            ping.from().tell(Pong.INSTANCE);
            sent++;
            return this;
        }

        private Behavior<ToMember> onPong() {
            received++;
            return next();
        }

        private Behavior<ToMember> next() {
            if (left == 0) {
                root.tell(Finished.INSTANCE);
                return this;
            }
            left--;
            members.get((int) draws.below(members.size())).tell(new Ping(getContext().getSelf()));
            sent++;
            return this;
        }

        private Behavior<ToMember> onEnd() {
            root.tell(new Counted(sent, received));
            return Behaviors.stopped();
        }
    }
}
