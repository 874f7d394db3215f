package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Work;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Messages to an actor that drops them: the remote mode of {@code call-vs-send}. */
final class Calls {
    /** Number of messages between two estimates of the receiver's queue length. */
    private static final int LOOK_EVERY = 1024;

    /** Size of a message in a mailbox, in bytes: the message, its envelope and the node of the queue. */
    private static final long MESSAGE_BYTES = 64;

    private Calls() {}

    sealed interface ToSender {}

    private enum Continue implements ToSender {
        INSTANCE
    }

    private record Dropped(long count, long peak) implements ToSender {}

    private sealed interface ToReceiver {}

    private record Message(long number) implements ToReceiver {}

    private record Report(ActorRef<ToSender> replyTo) implements ToReceiver {}

    static Behavior<ToSender> remote(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Sender(context, params.number("n"), done));
    }

    private static final class Sender extends AbstractBehavior<ToSender> {
        /** The number of messages sent, published for the receiver's estimate. */
        private final AtomicLong published = new AtomicLong();

        private final ActorRef<ToReceiver> receiver;
        private final long n;
        private final Consumer<Sample> done;
        private final long start;
        private long left;
        private long sent;
        private long elapsed;

        Sender(ActorContext<ToSender> context, long n, Consumer<Sample> done) {
            super(context);
            this.n = n;
            this.done = done;
            left = n;
            receiver = context.spawnAnonymous(Behaviors.setup(receiver -> new Receiver(receiver, published)));
            start = System.nanoTime();
            context.getSelf().tell(Continue.INSTANCE);
        }

        @Override
        public Receive<ToSender> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Continue.INSTANCE, this::onContinue)
                    .onMessage(Dropped.class, this::onDropped)
                    .build();
        }

        private Behavior<ToSender> onContinue() {
            for (long end = Math.max(0, left - FanIn.QUANTUM); left > end; left = Work.less(left)) {
                receiver.tell(new Message(left));
                sent++;
            }
            if (left > 0) {
                published.lazySet(sent);
                getContext().getSelf().tell(Continue.INSTANCE);
            } else {
                elapsed = System.nanoTime() - start;
                receiver.tell(new Report(getContext().getSelf()));
            }
            return this;
        }

        private Behavior<ToSender> onDropped(Dropped dropped) {
            done.accept(new Sample(elapsed, n, sent, dropped.count())
                    .with("queue_peak", dropped.peak())
                    .with("queue_peak_bytes", dropped.peak() * MESSAGE_BYTES));
            return Behaviors.stopped();
        }
    }

    private static final class Receiver extends AbstractBehavior<ToReceiver> {
        private final AtomicLong published;
        private long received;
        private long peak;

        Receiver(ActorContext<ToReceiver> context, AtomicLong published) {
            super(context);
            this.published = published;
        }

        @Override
        public Receive<ToReceiver> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Message.class, this::onMessage)
                    .onMessage(Report.class, this::onReport)
                    .build();
        }

        private Behavior<ToReceiver> onMessage(Message message) {
            if (received % LOOK_EVERY == 0) {
                peak = Math.max(peak, published.get() - received);
            }
            received++;
            return this;
        }

        private Behavior<ToReceiver> onReport(Report report) {
            report.replyTo().tell(new Dropped(received, peak));
            return this;
        }
    }
}
