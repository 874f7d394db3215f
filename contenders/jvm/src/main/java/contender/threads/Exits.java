package contender.threads;

import contender.Params;
import contender.Sample;
import java.util.concurrent.ExecutionException;

/** End of a thread, observed through the future of its task: {@code monitor-churn}. */
final class Exits {
    private Exits() {}

    static Sample monitorChurn(Params params) throws InterruptedException {
        long n = params.number("n");
        long sent = 0;
        long received = 0;
        long start = System.nanoTime();
        for (; sent < n; sent++) {
            try {
                Tasks.start(() -> null).get();
                received++;
            } catch (ExecutionException failed) {
                // An end that is not normal is not counted.
            }
        }
        return new Sample(System.nanoTime() - start, n, sent, received);
    }
}
