package contender.threads;

import contender.Params;
import contender.Sample;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;

/** End of a task, observed through its future: {@code monitor-churn}. */
final class Exits {
    private Exits() {}

    static Sample monitorChurn(Params params) throws InterruptedException {
        long n = params.number("n");
        long sent = 0;
        long received = 0;
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            long start = System.nanoTime();
            for (; sent < n; sent++) {
                try {
                    threads.submit(() -> {}).get();
                    received++;
                } catch (ExecutionException failed) {
                    // An end that is not normal is not counted.
                }
            }
            return new Sample(System.nanoTime() - start, n, sent, received);
        }
    }
}
