package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Savina.Colour;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Creatures that meet in pairs at a mall: {@code chameneos}. */
final class Chameneos {
    private Chameneos() {}

    sealed interface ToRoot {}

    /** The number of meetings of a creature. */
    private record Met(long meetings) implements ToRoot {}

    /** The number of meetings that the mall counted. */
    private record Paired(long meetings) implements ToRoot {}

    private sealed interface ToMall {}

    private record Meet(Colour colour, ActorRef<ToCreature> creature) implements ToMall {}

    private enum Report implements ToMall {
        INSTANCE
    }

    private sealed interface ToCreature {}

    /** The colour of the other creature. */
    private record Other(Colour colour) implements ToCreature {}

    private enum Closed implements ToCreature {
        INSTANCE
    }

    static Behavior<ToRoot> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Root(context, params, done));
    }

    private static final class Root extends AbstractBehavior<ToRoot> {
        private final long start = System.nanoTime();
        private final long n;
        private final Consumer<Sample> done;
        private final ActorRef<ToMall> mall;
        private int living;
        private long elapsed;
        private long received;

        Root(ActorContext<ToRoot> context, Params params, Consumer<Sample> done) {
            super(context);
            n = params.number("n");
            this.done = done;
            living = params.count("creatures");
            mall = context.spawnAnonymous(Behaviors.setup(meets -> new Mall(meets, n, context.getSelf())));
            for (int i = 0; i < living; i++) {
                var colour = Colour.of(i);
                context.spawnAnonymous(Behaviors.<ToCreature>setup(
                        lives -> new Creature(lives, colour, mall, context.getSelf())));
            }
        }

        @Override
        public Receive<ToRoot> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Met.class, this::onMet)
                    .onMessage(Paired.class, this::onPaired)
                    .build();
        }

        private Behavior<ToRoot> onMet(Met creature) {
            received += creature.meetings();
            living--;
            if (living == 0) {
                elapsed = System.nanoTime() - start;
                mall.tell(Report.INSTANCE);
            }
            return this;
        }

        private Behavior<ToRoot> onPaired(Paired all) {
            done.accept(new Sample(elapsed, n, 2 * all.meetings(), received));
            return Behaviors.stopped();
        }
    }

    private static final class Creature extends AbstractBehavior<ToCreature> {
        private final ActorRef<ToMall> mall;
        private final ActorRef<ToRoot> root;
        private Colour colour;
        private long meetings;

        Creature(ActorContext<ToCreature> context, Colour colour, ActorRef<ToMall> mall, ActorRef<ToRoot> root) {
            super(context);
            this.colour = colour;
            this.mall = mall;
            this.root = root;
            mall.tell(new Meet(colour, context.getSelf()));
        }

        @Override
        public Receive<ToCreature> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Other.class, this::onOther)
                    .onMessageEquals(Closed.INSTANCE, this::onClosed)
                    .build();
        }

        private Behavior<ToCreature> onOther(Other other) {
            meetings++;
            colour = colour.complement(other.colour());
            mall.tell(new Meet(colour, getContext().getSelf()));
            return this;
        }

        private Behavior<ToCreature> onClosed() {
            root.tell(new Met(meetings));
            return Behaviors.stopped();
        }
    }

    /** Pairs the creatures until there were n meetings, then closes to all. */
    private static final class Mall extends AbstractBehavior<ToMall> {
        private final long n;
        private final ActorRef<ToRoot> root;
        private Meet waiting;
        private long meetings;

        Mall(ActorContext<ToMall> context, long n, ActorRef<ToRoot> root) {
            super(context);
            this.n = n;
            this.root = root;
        }

        @Override
        public Receive<ToMall> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Meet.class, this::onMeet)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToMall> onMeet(Meet next) {
            if (meetings == n) {
                next.creature().tell(Closed.INSTANCE);
            } else if (waiting == null) {
                waiting = next;
            } else {
                meetings++;
                waiting.creature().tell(new Other(next.colour()));
                next.creature().tell(new Other(waiting.colour()));
                waiting = null;
            }
            return this;
        }

        private Behavior<ToMall> onReport() {
            root.tell(new Paired(meetings));
            return this;
        }
    }
}
