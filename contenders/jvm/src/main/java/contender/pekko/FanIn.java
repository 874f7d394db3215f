package contender.pekko;

import contender.Delays;
import contender.Sample;
import contender.Work;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Messages from one or many senders to one receiver: {@code throughput} and {@code fan-in}. */
final class FanIn {
    /** Messages that a sender sends before it lets others run, by a message to itself. */
    static final int QUANTUM = 64;

    private FanIn() {}

    sealed interface ToReceiver {}

    /** A message; it carries its send time, or 0. */
    record Message(long stamp) implements ToReceiver {}

    /** The last message of a sender: the number it has sent. */
    record Sent(long count) implements ToReceiver {}

    static Behavior<ToReceiver> root(long senders, long n, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Receiver(context, senders, n, done));
    }

    private static final class Receiver extends AbstractBehavior<ToReceiver> {
        private final long start = System.nanoTime();
        private final Delays delays = new Delays();
        private final long n;
        private final Consumer<Sample> done;
        private long sending;
        private long sent;
        private long received;

        Receiver(ActorContext<ToReceiver> context, long senders, long n, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.done = done;
            sending = senders;
            for (long sender = 0; sender < senders; sender++) {
                context.spawnAnonymous(Sender.create(Work.share(n, senders, sender), context.getSelf()));
            }
        }

        @Override
        public Receive<ToReceiver> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Message.class, this::onMessage)
                    .onMessage(Sent.class, this::onSent)
                    .build();
        }

        private Behavior<ToReceiver> onMessage(Message message) {
            received++;
            delays.received(message.stamp());
            return this;
        }

        private Behavior<ToReceiver> onSent(Sent all) {
            sent += all.count();
            sending--;
            if (sending > 0) {
                return this;
            }
            done.accept(new Sample(System.nanoTime() - start, n, sent, received).with(delays.fields()));
            return Behaviors.stopped();
        }
    }

    private enum Continue {
        INSTANCE
    }

    private static final class Sender extends AbstractBehavior<Continue> {
        private final long share;
        private final ActorRef<ToReceiver> receiver;
        private long sent;

        static Behavior<Continue> create(long share, ActorRef<ToReceiver> receiver) {
            return Behaviors.setup(context -> {
                context.getSelf().tell(Continue.INSTANCE);
                return new Sender(context, share, receiver);
            });
        }

        private Sender(ActorContext<Continue> context, long share, ActorRef<ToReceiver> receiver) {
            super(context);
            this.share = share;
            this.receiver = receiver;
        }

        @Override
        public Receive<Continue> createReceive() {
            return newReceiveBuilder().onMessage(Continue.class, this::onContinue).build();
        }

        private Behavior<Continue> onContinue(Continue message) {
            for (long end = Math.min(share, sent + QUANTUM); sent < end; sent++) {
                receiver.tell(new Message(Delays.stamp(sent)));
            }
            if (sent < share) {
                getContext().getSelf().tell(Continue.INSTANCE);
                return this;
            }
            receiver.tell(new Sent(sent));
            return Behaviors.stopped();
        }
    }
}
