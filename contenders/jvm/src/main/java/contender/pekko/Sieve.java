package contender.pekko;

import contender.Params;
import contender.Sample;
import contender.Savina.Filter;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** A chain of actors that filters primes, each the child of the previous one: {@code sieve}. */
final class Sieve {
    private Sieve() {}

    sealed interface ToProducer {}

    private enum Continue implements ToProducer {
        INSTANCE
    }

    /** Report of a filter: its primes, the candidates that ended there, and whether it is the last one. */
    private record Filtered(long primes, long ended, boolean last) implements ToProducer {}

    private sealed interface ToFilter {}

    private record Candidate(long number) implements ToFilter {}

    /** Follows the last candidate. */
    private enum End implements ToFilter {
        INSTANCE
    }

    static Behavior<ToProducer> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Producer(context, params, done));
    }

    private static final class Producer extends AbstractBehavior<ToProducer> {
        private final long start = System.nanoTime();
        private final long candidates;
        private final Consumer<Sample> done;
        private final ActorRef<ToFilter> first;
        private long sent;
        private long ended;
        private long primes;

        Producer(ActorContext<ToProducer> context, Params params, Consumer<Sample> done) {
            super(context);
            candidates = (params.number("n") - 1) / 2;
            this.done = done;
            first = context.spawnAnonymous(
                    Filtering.create(new Filter(2, params.count("local")), context.getSelf()));
            context.getSelf().tell(Continue.INSTANCE);
        }

        @Override
        public Receive<ToProducer> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Continue.INSTANCE, this::onContinue)
                    .onMessage(Filtered.class, this::onFiltered)
                    .build();
        }

        private Behavior<ToProducer> onContinue() {
            for (long end = Math.min(candidates, sent + FanIn.QUANTUM); sent < end; sent++) {
                first.tell(new Candidate(2 * sent + 3));
            }
            if (sent < candidates) {
                getContext().getSelf().tell(Continue.INSTANCE);
            } else {
                first.tell(End.INSTANCE);
            }
            return this;
        }

        private Behavior<ToProducer> onFiltered(Filtered filter) {
            primes += filter.primes();
            ended += filter.ended();
            if (!filter.last()) {
                return this;
            }
            done.accept(new Sample(System.nanoTime() - start, candidates, sent, ended).with("primes", primes));
            return Behaviors.stopped();
        }
    }

    private static final class Filtering extends AbstractBehavior<ToFilter> {
        private final Filter filter;
        private final ActorRef<ToProducer> root;
        private ActorRef<ToFilter> next;
        private long ended;

        static Behavior<ToFilter> create(Filter filter, ActorRef<ToProducer> root) {
            return Behaviors.setup(context -> new Filtering(context, filter, root));
        }

        private Filtering(ActorContext<ToFilter> context, Filter filter, ActorRef<ToProducer> root) {
            super(context);
            this.filter = filter;
            this.root = root;
        }

        @Override
        public Receive<ToFilter> createReceive() {
            return newReceiveBuilder()
                    .onMessage(Candidate.class, this::onCandidate)
                    .onMessageEquals(End.INSTANCE, this::onEnd)
                    .build();
        }

        private Behavior<ToFilter> onCandidate(Candidate candidate) {
            if (filter.divides(candidate.number())) {
                ended++;
            } else if (next != null) {
                next.tell(candidate);
            } else {
                // The first prime of the next filter has ended here, too.
                ended++;
                if (!filter.keep(candidate.number())) {
                    next = getContext().spawnAnonymous(create(filter.next(candidate.number()), root));
                }
            }
            return this;
        }

        /** Passes the end on after the report, so the last filter reports last. */
        private Behavior<ToFilter> onEnd() {
            root.tell(new Filtered(filter.count(), ended, next == null));
            if (next != null) {
                next.tell(End.INSTANCE);
            }
            return this;
        }
    }
}
