package contender;

import java.util.ArrayDeque;
import java.util.function.Supplier;

/** Payload source and sink of one side of {@code exchange} and its kin. */
public interface Payloads {
    /** Maximum size of the stock of lists of one side, in elements: 96 MiB. */
    long STOCK_MAX = (96L << 20) / Long.BYTES;

    /** Returns the next payload to send; {@code null} for a short message. */
    long[] supply();

    /** Takes a received payload. */
    void accept(long[] payload);

    /** Returns the total length of all accepted lists. */
    default long elements() {
        return 0;
    }

    /** Returns the number of lists that were allocated while the clock ran. */
    default long allocated() {
        return 0;
    }

    /** Returns the source for this request. */
    static Supplier<Payloads> of(Params params) {
        return switch (params.experiment()) {
            case "exchange" -> Short::new;
            case "message-moved" -> () -> new Moved(params.number("n"), params.count("s"));
            default -> () -> new Copied(params.count("s"));
        };
    }

    private static long[] list(int length) {
        var list = new long[length];
        for (int i = 0; i < length; i++) {
            list[i] = i & 0xff;
        }
        return list;
    }

    /** Messages without a list. */
    final class Short implements Payloads {
        @Override
        public long[] supply() {
            return null;
        }

        @Override
        public void accept(long[] payload) {}
    }

    /** Lists that change owner: received lists are sent again. */
    final class Moved implements Payloads {
        private final ArrayDeque<long[]> stock = new ArrayDeque<>();
        private final int length;
        private long elements;
        private long allocated;

        Moved(long n, int length) {
            this.length = length;
            for (long i = Math.min(n, STOCK_MAX / (length + 3)); i > 0; i--) {
                stock.push(list(length));
            }
        }

        @Override
        public long[] supply() {
            var list = stock.poll();
            if (list == null) {
                allocated++;
                return new long[length];
            }
            return list;
        }

        @Override
        public void accept(long[] payload) {
            elements += payload.length;
            stock.push(payload);
        }

        @Override
        public long elements() {
            return elements;
        }

        @Override
        public long allocated() {
            return allocated;
        }
    }

    /** A copy of one list for each send. */
    final class Copied implements Payloads {
        private final long[] original;
        private long elements;

        Copied(int length) {
            original = list(length);
        }

        @Override
        public long[] supply() {
            return original.clone();
        }

        @Override
        public void accept(long[] payload) {
            elements += payload.length;
        }

        @Override
        public long elements() {
            return elements;
        }
    }
}
