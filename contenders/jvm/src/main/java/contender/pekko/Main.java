package contender.pekko;

import contender.Program;
import contender.Program.Run;
import contender.Sample;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.pekko.Version;

/** Contender of the lab: typed actors of Apache Pekko, in Java. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws IOException {
        var system = Lab.system();
        var runs = new TreeMap<String, Run>();
        runs.put("call-vs-send", params -> Lab.run(system, done -> Calls.remote(params, done)));
        runs.put("spawn-chain", params -> Lab.run(system, done -> Chains.spawnChain(params, done)));
        runs.put("serial-spawn", params -> Lab.run(system, done -> Chains.serialSpawn(params, done)));
        runs.put("exchange", params -> Lab.run(system, done -> Exchange.root(params, done)));
        runs.put("message-size", runs.get("exchange"));
        runs.put("bandwidth", runs.get("exchange"));
        runs.put("message-moved", runs.get("exchange"));
        runs.put("ping-pong", params -> Lab.run(system, done -> PingPong.root(params, done)));
        runs.put("throughput", params -> Lab.run(system, done -> FanIn.root(1, params.number("n"), done)));
        runs.put(
                "fan-in",
                params -> Lab.run(system, done -> FanIn.root(params.number("senders"), params.number("n"), done)));
        runs.put("fan-out", params -> Lab.run(system, done -> FanOut.root(params, done)));
        runs.put("thread-ring", params -> Lab.run(system, done -> Ring.root(params, done)));
        runs.put("call", params -> Lab.run(system, done -> Call.root(params, done)));
        runs.put("fork-join", params -> Lab.run(system, done -> Trees.forkJoin(params, done)));
        runs.put("skynet", params -> Lab.run(system, done -> Trees.skynet(params, done)));
        runs.put("timers", params -> Lab.run(system, done -> Timers.cancelled(params, done)));
        runs.put("timer-expiry", params -> Lab.run(system, done -> Timers.expiring(params, done)));
        runs.put("idle-memory", params -> Lab.start(system, done -> Idle.root(params, done)).sample().get());
        runs.put("hog", params -> Hog.run(system, params));
        runs.put("monitor-churn", params -> Lab.run(system, done -> Exits.monitorChurn(params, done)));
        runs.put("restart", params -> Lab.run(system, done -> Exits.restart(params, done)));
        runs.put(
                "banking",
                params -> Sample.repeated(params, once -> Lab.run(system, done -> Banking.root(once, done))));
        runs.put("bounded-buffer", params -> Lab.run(system, done -> BoundedBuffer.root(params, done)));
        runs.put("chameneos", params -> Lab.run(system, done -> Chameneos.root(params, done)));
        runs.put("dictionary", params -> Lab.run(system, done -> Dictionary.root(params, done)));
        runs.put(
                "logistic-map",
                params -> Sample.repeated(params, once -> Lab.run(system, done -> LogisticMap.root(once, done))));
        runs.put("philosophers", params -> Lab.run(system, done -> Philosophers.root(params, done)));
        runs.put(
                "sieve",
                params -> Sample.repeated(params, once -> Lab.run(system, done -> Sieve.root(once, done))));
        runs.put("big", params -> Lab.run(system, done -> Big.root(params, done)));
        runs.put("spread", params -> Lab.run(system, done -> Spread.root(params, done)));

        var dispatcher = system.settings().config().getConfig("pekko.actor.default-dispatcher");
        var pool = dispatcher.getConfig("fork-join-executor");
        var notes = List.of(
                "typed actors in Java; the default dispatcher with a throughput of " + dispatcher.getInt("throughput")
                        + " messages per turn and a fork-join pool of " + pool.getString("parallelism-factor")
                        + " threads per core, at least " + pool.getString("parallelism-min") + ", at most "
                        + pool.getString("parallelism-max")
                        + "; the default mailbox, which has no bound; settings of Pekko are given as flags: -Dpekko.actor.default-dispatcher.throughput=64",
                "Pekko's defaults apart from logging, which is off, and the least number of threads, 8 by default: with 8 threads on two cores most messages wake one, and a call takes 25 times as long",
                "a loop that only sends or spawns continues by a message to itself after every " + FanIn.QUANTUM
                        + " messages",
                "spawn-chain, serial-spawn: an actor that stops stops its children, so each asks the root to spawn its successor, as with SpawnProtocol",
                "a call is ActorContext.ask with a timeout; it does not watch the called actor; a timer is ActorContext.scheduleOnce; monitor-churn watches; restart is Behaviors.supervise with a limit, its log off",
                "exchange and its kin: a message for each piece of work; message-moved: the receiver gets the array itself; message-size, bandwidth: the sender copies it first",
                "Savina programs and spread: a call is a message with the caller's ActorRef, and a message for the reply; banking, logistic-map: an actor that waits for one message stashes the others, and unstashes them one by one",
                "hog: the computing actors are on the default dispatcher, like all others; timers: the default scheduler has ticks of 10 ms, and a timer fires at the next tick, so the open loop of hog starts ten trips at a time; -Dpekko.scheduler.tick-duration=1ms measures shorter ones",
                "an actor cannot look for one message behind others, hence no call-deep, reply-deep and selective; there are no links and no exit signals, hence no link-churn, exit-cascade and signals");
        new Program("pekko", "Pekko " + Version.current(), notes, runs, Map.of()).serve();
        System.exit(0);
    }
}
