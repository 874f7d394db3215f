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

/** Messages from one sender to many receivers in turn: {@code fan-out}. */
final class FanOut {
    private FanOut() {}

    sealed interface ToSender {}

    private enum Ready implements ToSender {
        INSTANCE
    }

    private enum Continue implements ToSender {
        INSTANCE
    }

    /** The share of a receiver has arrived. */
    private record Received(long count) implements ToSender {}

    private record Message(long number) {}

    static Behavior<ToSender> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Sender(context, params, done));
    }

    private static final class Sender extends AbstractBehavior<ToSender> {
        private final ArrayList<ActorRef<Message>> receivers = new ArrayList<>();
        private final long n;
        private final Consumer<Sample> done;
        private long start;
        private int ready;
        private int finished;
        private int place;
        private long sent;
        private long received;

        Sender(ActorContext<ToSender> context, Params params, Consumer<Sample> done) {
            super(context);
            n = params.number("n");
            this.done = done;
            int processes = params.count("processes");
            for (int i = 0; i < processes; i++) {
                long share = n / processes + (i < n % processes ? 1 : 0);
                receivers.add(context.spawnAnonymous(Receiver.create(share, context.getSelf())));
            }
        }

        @Override
        public Receive<ToSender> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Continue.INSTANCE, this::onContinue)
                    .onMessage(Received.class, this::onReceived)
                    .onMessageEquals(Ready.INSTANCE, this::onReady)
                    .build();
        }

        private Behavior<ToSender> onReady() {
            ready++;
            if (ready == receivers.size()) {
                start = System.nanoTime();
                return onContinue();
            }
            return this;
        }

        private Behavior<ToSender> onContinue() {
            for (long end = Math.min(n, sent + FanIn.QUANTUM); sent < end; sent++) {
                receivers.get(place).tell(new Message(sent));
                place++;
                if (place == receivers.size()) {
                    place = 0;
                }
            }
            if (sent < n) {
                getContext().getSelf().tell(Continue.INSTANCE);
            }
            return this;
        }

        private Behavior<ToSender> onReceived(Received share) {
            received += share.count();
            finished++;
            if (finished < receivers.size()) {
                return this;
            }
            done.accept(new Sample(System.nanoTime() - start, n, sent, received));
            return Behaviors.stopped();
        }
    }

    private static final class Receiver extends AbstractBehavior<Message> {
        private final long share;
        private final ActorRef<ToSender> sender;
        private long received;

        static Behavior<Message> create(long share, ActorRef<ToSender> sender) {
            return Behaviors.setup(context -> {
                sender.tell(Ready.INSTANCE);
                if (share > 0) {
                    return new Receiver(context, share, sender);
                }
                sender.tell(new Received(0));
                return Behaviors.stopped();
            });
        }

        private Receiver(ActorContext<Message> context, long share, ActorRef<ToSender> sender) {
            super(context);
            this.share = share;
            this.sender = sender;
        }

        @Override
        public Receive<Message> createReceive() {
            return newReceiveBuilder().onMessage(Message.class, this::onMessage).build();
        }

        private Behavior<Message> onMessage(Message message) {
            received++;
            if (received < share) {
                return this;
            }
            sender.tell(new Received(received));
            return Behaviors.stopped();
        }
    }
}
