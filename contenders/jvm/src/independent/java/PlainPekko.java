import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Plain programs of a Pekko user, to be compared with the contender {@code pekko}: throughput, fan-in, ping-pong,
 * spawn-chain, fork-join and call.
 *
 * <p>They share no code with the contender, count nothing but what ends a run, and speak just enough of the contender
 * protocol to be measured as {@code plain=COMMAND}.
 */
final class PlainPekko {
    private static final String HELLO =
            """
            {"name":"plain-pekko","version":"Pekko","os_pid":%d,"notes":[],\
            "experiments":["throughput","fan-in","ping-pong","spawn-chain","fork-join","call"]}""";

    /** Experiments that have been warmed up. */
    private static final Set<String> WARM = new HashSet<>();

    /** Requests the root actor of a run. */
    record Run(Function<CompletableFuture<Long>, Behavior<Object>> root, CompletableFuture<Long> end) {}

    public static void main(String[] arguments) throws Exception {
        ActorSystem<Run> system = ActorSystem.create(
                Behaviors.setup(context -> Behaviors.receiveMessage(run -> {
                    context.spawnAnonymous(run.root().apply(run.end()));
                    return Behaviors.same();
                })),
                "plain");
        var input = new Scanner(System.in);
        while (input.hasNextLine()) {
            var line = input.nextLine();
            if (line.contains("\"hello\"")) {
                System.out.println(HELLO.formatted(ProcessHandle.current().pid()));
            } else if (line.contains("\"quit\"")) {
                break;
            } else {
                warmUp(system, line);
                System.out.println(run(system, line));
            }
        }
        System.exit(0);
    }

    /** Repeats the first request of each experiment for a second, so that the compiler has optimised what is measured. */
    private static void warmUp(ActorSystem<Run> system, String line) throws Exception {
        if (WARM.add(line.replaceFirst("\"n\":.*", ""))) {
            long until = System.nanoTime() + 1_000_000_000;
            while (System.nanoTime() < until) {
                run(system, line);
            }
        }
    }

    private static String run(ActorSystem<Run> system, String line) throws Exception {
        long n = number(line, "n", 0);
        long reps = number(line, "reps", 1);
        long messages = n * reps;
        Map<String, Function<CompletableFuture<Long>, Behavior<Object>>> programs = Map.of(
                "throughput", end -> receiver(1, n, end),
                "fan-in", end -> receiver(number(line, "senders", 1), n, end),
                "ping-pong", end -> pinger(n, end),
                "spawn-chain", end -> chain(n, reps, end),
                "fork-join", end -> forkJoin(n, end),
                "call", end -> caller(n, end));
        var name = Pattern.compile("\"experiment\":\"([a-z-]+)\"").matcher(line);
        if (!name.find() || !programs.containsKey(name.group(1))) {
            return "{\"error\":\"unknown experiment\"}";
        }
        long both = name.group(1).matches("ping-pong|call") ? 2 * messages : messages;
        var end = new CompletableFuture<Long>();
        long start = System.nanoTime();
        system.tell(new Run(programs.get(name.group(1)), end));
        long elapsed = end.get() - start;
        return "{\"elapsed_ns\":%d,\"ops\":%d,\"sent\":%d,\"received\":%d}".formatted(elapsed, messages, both, both);
    }

    private static long number(String line, String name, long missing) {
        var number = Pattern.compile("\"" + name + "\":([0-9]+)").matcher(line);
        return number.find() ? Long.parseLong(number.group(1)) : missing;
    }

    /** Returns a behavior that handles messages one by one until the handler returns false. */
    private static Behavior<Object> until(CompletableFuture<Long> end, Function<Object, Boolean> more) {
        return Behaviors.receiveMessage(message -> {
            if (more.apply(message)) {
                return Behaviors.same();
            }
            end.complete(System.nanoTime());
            return Behaviors.stopped();
        });
    }

    private static Behavior<Object> receiver(long senders, long n, CompletableFuture<Long> end) {
        return Behaviors.setup(context -> {
            for (long sender = 0; sender < senders; sender++) {
                long share = n / senders + (sender == 0 ? n % senders : 0);
                context.spawnAnonymous(sender(context.getSelf(), share));
            }
            long[] left = {n};
            return until(end, message -> --left[0] > 0);
        });
    }

    private static Behavior<Void> sender(ActorRef<Object> receiver, long share) {
        return Behaviors.setup(context -> {
            for (long i = 0; i < share; i++) {
                receiver.tell(Long.valueOf(i));
            }
            return Behaviors.stopped();
        });
    }

    private static Behavior<Object> pinger(long n, CompletableFuture<Long> end) {
        return Behaviors.setup(context -> {
            ActorRef<Long> echo = context.spawnAnonymous(Behaviors.receiveMessage(round -> {
                context.getSelf().tell(round);
                return Behaviors.same();
            }));
            echo.tell(1L);
            return until(end, round -> {
                boolean more = (Long) round < n;
                if (more) {
                    echo.tell((Long) round + 1);
                }
                return more;
            });
        });
    }

    private static Behavior<Object> chain(long n, long reps, CompletableFuture<Long> end) {
        return Behaviors.setup(context -> {
            context.getSelf().tell(1L);
            long[] left = {reps};
            return until(end, number -> {
                if ((Long) number > n) {
                    left[0]--;
                    context.getSelf().tell(1L);
                } else {
                    context.spawnAnonymous(Behaviors.setup(link -> {
                        context.getSelf().tell((Long) number + 1);
                        return Behaviors.stopped();
                    }));
                }
                return left[0] > 0;
            });
        });
    }

    private static Behavior<Object> forkJoin(long n, CompletableFuture<Long> end) {
        return Behaviors.setup(context -> {
            for (long i = 0; i < n; i++) {
                context.spawnAnonymous(Behaviors.setup(child -> {
                    context.getSelf().tell("done");
                    return Behaviors.stopped();
                }));
            }
            long[] left = {n};
            return until(end, report -> --left[0] > 0);
        });
    }

    record Request(long round, ActorRef<Long> replyTo) {}

    private static Behavior<Object> caller(long n, CompletableFuture<Long> end) {
        return Behaviors.setup(context -> {
            ActorRef<Request> server = context.spawnAnonymous(Behaviors.receiveMessage(request -> {
                request.replyTo().tell(request.round());
                return Behaviors.same();
            }));
            ask(context, server, 1);
            return until(end, reply -> {
                boolean more = (Long) reply < n;
                if (more) {
                    ask(context, server, (Long) reply + 1);
                }
                return more;
            });
        });
    }

    private static void ask(ActorContext<Object> context, ActorRef<Request> server, long round) {
        context.<Request, Long>ask(
                Long.class,
                server,
                Duration.ofSeconds(5),
                replyTo -> new Request(round, replyTo),
                (reply, failure) -> reply);
    }
}
