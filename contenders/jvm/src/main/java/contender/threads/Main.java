package contender.threads;

import contender.Program;
import contender.Program.Run;
import contender.Program.Serve;
import contender.Sample;
import java.io.IOException;
import java.util.List;
import java.util.TreeMap;

/** Contender of the lab: virtual threads and the queues of java.util.concurrent. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws IOException {
        var runs = new TreeMap<String, Run>();
        runs.put("call-vs-send", Calls::remote);
        runs.put("spawn-chain", Chains::spawnChain);
        runs.put("serial-spawn", Chains::serialSpawn);
        runs.put("exchange", Exchange::run);
        runs.put("message-size", Exchange::run);
        runs.put("bandwidth", Exchange::run);
        runs.put("message-moved", Exchange::run);
        runs.put("ping-pong", PingPong::run);
        runs.put("throughput", params -> FanIn.run(1, params.number("n")));
        runs.put("fan-in", params -> FanIn.run(params.number("senders"), params.number("n")));
        runs.put("fan-out", FanOut::run);
        runs.put("thread-ring", Ring::run);
        runs.put("call", Call::run);
        runs.put("fork-join", Trees::forkJoin);
        runs.put("skynet", Trees::skynet);
        runs.put("timers", Timers::cancelled);
        runs.put("timer-expiry", Timers::expiring);
        runs.put("idle-memory", Idle::run);
        runs.put("monitor-churn", Exits::monitorChurn);
        runs.put("banking", params -> Sample.repeated(params, Banking::run));
        runs.put("bounded-buffer", BoundedBuffer::run);
        runs.put("chameneos", Chameneos::run);
        runs.put("dictionary", Dictionary::run);
        runs.put("logistic-map", params -> Sample.repeated(params, LogisticMap::run));
        runs.put("philosophers", Philosophers::run);
        runs.put("sieve", params -> Sample.repeated(params, Sieve::run));
        runs.put("big", Big::run);
        runs.put("spread", Spread::run);
        // The process that holds the clock is a virtual thread, like the others.
        runs.replaceAll((id, run) -> params -> Tasks.start(() -> run.run(params)).get());
        runs.put("hog", Hog::run);
        var servers = new TreeMap<String, Serve>();
        servers.put("ack-request-reply", AckServer.requestReply());
        servers.put("ack-sync-ack", AckServer.syncAck());
        new Program("virtual-threads", "virtual threads", NOTES, runs, servers).serve();
    }

    private static final List<String> NOTES = List.of(
            "virtual threads on as many carrier threads as the machine has processors, or as -Djdk.virtualThreadScheduler.parallelism says; every experiment runs in a virtual thread",
            "a mailbox is a LinkedTransferQueue, which has no bound; a send is put, which never waits, so no loop yields, and a thread that computes is not preempted",
            "a call is a request with a CompletableFuture, and get with five seconds; monitor-churn waits for the Future of a task; a timer is one of a ScheduledThreadPoolExecutor that removes cancelled ones",
            "Savina programs and spread: a thread for each process, and a call is a request with a CompletableFuture, without a timeout",
            "message-moved: the receiver gets the array itself; message-size, bandwidth: the sender copies it first",
            "ack: blocking sockets, a virtual thread per connection; no two threads work on a connection, hence no throttle, head-rest and async-ack",
            "there is no mailbox of several kinds, hence no call-deep, reply-deep and selective; there are no links and no supervisors, and a thread cannot be sent an exit signal, hence no link-churn, exit-cascade, restart and signals");
}
