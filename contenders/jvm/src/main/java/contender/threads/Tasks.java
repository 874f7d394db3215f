package contender.threads;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Function;

/** Virtual threads with a result, and calls between them. */
final class Tasks {
    private Tasks() {}

    /** Numbers of messages that a thread has sent and received. */
    record Counted(long sent, long received) {}

    /** Starts a virtual thread. */
    static <T> Future<T> start(Callable<T> body) {
        var task = new FutureTask<>(body);
        Thread.startVirtualThread(task);
        return task;
    }

    /** Sends a request with the future for its reply, and waits for the reply. */
    static <M, R> R call(BlockingQueue<M> server, Function<CompletableFuture<R>, M> request)
            throws InterruptedException, ExecutionException {
        var reply = new CompletableFuture<R>();
        server.put(request.apply(reply));
        return reply.get();
    }
}
