package contender;

import java.util.List;

/** One of the two sides of {@code exchange}: its work, its payloads and its counts. Used by one thread at a time. */
public final class Side {
    public final Payloads payloads;
    private final long n;
    private final long pieces;
    private final long steps;
    private long x = Work.START;
    private long done;
    private long carried;
    private long sent;
    private long received;

    Side(Params params, Payloads payloads) {
        this.payloads = payloads;
        n = params.number("n");
        pieces = params.number("pieces");
        steps = params.number("work");
    }

    public boolean hasWork() {
        return done < pieces;
    }

    /** Does the next piece of work; returns the number of messages to send after it. */
    public long work() {
        x = Work.work(x, steps);
        done++;
        long messages = n / pieces;
        carried += n % pieces;
        if (carried >= pieces) {
            carried -= pieces;
            messages++;
        }
        return messages;
    }

    public long[] supply() {
        sent++;
        return payloads.supply();
    }

    public void accept(long[] payload) {
        received++;
        payloads.accept(payload);
    }

    /** Returns whether all work is done and all messages of the partner have arrived. */
    public boolean isDone() {
        return !hasWork() && received == n;
    }

    /** Pairs of sides for the repetitions of one request, and the sum of their figures. */
    public static final class Pairs {
        private final Params params;
        private final List<Payloads> stores;
        private long elapsed;
        private long sent;
        private long received;
        private long sink;

        /** Builds the payloads, which are used in every repetition. */
        public Pairs(Params params) {
            this.params = params;
            var source = Payloads.of(params);
            stores = List.of(source.get(), source.get());
        }

        /** Returns the two sides of the next repetition. */
        public List<Side> next() {
            return stores.stream().map(store -> new Side(params, store)).toList();
        }

        /** Adds the figures of a repetition that took this many ns. */
        public void add(long time, List<Side> sides) {
            elapsed += time;
            for (var side : sides) {
                sent += side.sent;
                received += side.received;
                sink += side.x;
            }
        }

        public Sample sample() {
            var sample = new Sample(elapsed, params.number("n") * params.number("reps"), sent, received)
                    .with("sink", sink);
            if (params.experiment().equals("exchange")) {
                return sample;
            }
            return sample.with("elements", stores.stream().mapToLong(Payloads::elements).sum())
                    .with("allocated", stores.stream().mapToLong(Payloads::allocated).sum());
        }
    }
}
