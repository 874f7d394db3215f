package contender.pekko;

import contender.Params;
import contender.Sample;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Dining philosophers at an arbiter: {@code philosophers}. */
final class Philosophers {
    private Philosophers() {}

    sealed interface ToRoot {}

    /** The number of meals of a philosopher. */
    private record Eaten(long meals) implements ToRoot {}

    private record Answered(long granted, long denied) implements ToRoot {}

    private sealed interface ToArbiter {}

    private record Hungry(int seat, ActorRef<Answer> philosopher) implements ToArbiter {}

    private record Done(int seat) implements ToArbiter {}

    private enum Report implements ToArbiter {
        INSTANCE
    }

    private enum Answer {
        EAT,
        DENIED
    }

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final long ops;
        private final Consumer<Sample> done;
        private final ActorRef<ToArbiter> arbiter;
        private int dining;
        private long elapsed;
        private long eaten;

        Root(ActorContext<ToRoot> context, Params params, Consumer<Sample> done) {
            super(context);
            this.done = done;
            int count = params.count("philosophers");
            long n = params.number("n");
            ops = count * n;
            dining = count;
            arbiter = context.spawnAnonymous(
                    Behaviors.setup(answers -> new Arbiter(answers, count, context.getSelf())));
            for (int seat = 0; seat < count; seat++) {
                context.spawnAnonymous(Philosopher.create(seat, n, arbiter, context.getSelf()));
            }
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Eaten.class, this::onEaten)
                    .onMessage(Answered.class, this::onAnswered)
                    .build();
        }

        private Behavior<ToRoot> onEaten(Eaten philosopher) {
            eaten += philosopher.meals();
            dining--;
            if (dining == 0) {
                elapsed = System.nanoTime() - start;
                arbiter.tell(Report.INSTANCE);
            }
            return this;
        }

        private Behavior<ToRoot> onAnswered(Answered all) {
            done.accept(new Sample(elapsed, ops, all.granted(), eaten).with("denied", all.denied()));
            return Behaviors.stopped();
        }
    }

    private static final class Philosopher extends AbstractBehavior<Answer> {
        private final int seat;
        private final long n;
        private final ActorRef<ToArbiter> arbiter;
        private final ActorRef<ToRoot> root;
        private long eaten;

        static Behavior<Answer> create(int seat, long n, ActorRef<ToArbiter> arbiter, ActorRef<ToRoot> root) {
            return Behaviors.setup(context -> new Philosopher(context, seat, n, arbiter, root).next());
        }

        private Philosopher(
                ActorContext<Answer> context, int seat, long n, ActorRef<ToArbiter> arbiter, ActorRef<ToRoot> root) {
            super(context);
            this.seat = seat;
            this.n = n;
            this.arbiter = arbiter;
            this.root = root;
        }

        @Override
        public Receive<Answer> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Answer.EAT, this::onEat)
                    .onMessageEquals(Answer.DENIED, this::next)
                    .build();
        }

        private Behavior<Answer> onEat() {
            eaten++;
            arbiter.tell(new Done(seat));
            return next();
        }

        private Behavior<Answer> next() {
            if (eaten == n) {
                root.tell(new Eaten(eaten));
                return Behaviors.stopped();
            }
            arbiter.tell(new Hungry(seat, getContext().getSelf()));
            return this;
        }
    }

    private static final class Arbiter extends AbstractBehavior<ToArbiter> {
        private final boolean[] taken;
        private final ActorRef<ToRoot> root;
        private long granted;
        private long denied;

        Arbiter(ActorContext<ToArbiter> context, int count, ActorRef<ToRoot> root) {
            super(context);
            taken = new boolean[count];
            this.root = root;
        }

        @Override
        public Receive<ToArbiter> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Hungry.class, this::onHungry)
                    .onMessage(Done.class, this::onDone)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToArbiter> onHungry(Hungry hungry) {
            int left = hungry.seat();
            int right = (left + 1) % taken.length;
            if (taken[left] || taken[right]) {
                denied++;
                hungry.philosopher().tell(Answer.DENIED);
            } else {
                granted++;
                taken[left] = true;
                taken[right] = true;
                hungry.philosopher().tell(Answer.EAT);
            }
            return this;
        }

        private Behavior<ToArbiter> onDone(Done done) {
            taken[done.seat()] = false;
            taken[(done.seat() + 1) % taken.length] = false;
            return this;
        }

        private Behavior<ToArbiter> onReport() {
            root.tell(new Answered(granted, denied));
            return this;
        }
    }
}
