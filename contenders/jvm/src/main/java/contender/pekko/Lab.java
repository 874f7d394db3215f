package contender.pekko;

import com.typesafe.config.ConfigFactory;
import contender.Sample;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** The actor system, and its guardian: the parent of the root actor of each run. */
final class Lab extends AbstractBehavior<Lab.Start> {
    /**
     * The settings that are not Pekko's defaults.
     *
     * <p>WHY the pool: with the default minimum of 8 threads on two cores, most messages wake a thread, and a call
     * takes 26 µs instead of 1.
     */
    private static final String SETTINGS =
            """
            pekko {
              loglevel = OFF
              stdout-loglevel = OFF
              actor.default-dispatcher.fork-join-executor.parallelism-min = 1
            }
            """;

    /** The latest run. */
    private Start running;

    /** Requests the spawn of a root actor. */
    record Start(Behavior<?> root, CompletableFuture<Sample> sample, CompletableFuture<Void> ended) {
        /** Waits for the sample and for the end of the root. */
        Sample result() throws Exception {
            var result = sample.get();
            ended.get();
            return result;
        }
    }

    private Lab(ActorContext<Start> context) {
        super(context);
    }

    static ActorSystem<Start> system() {
        var config = ConfigFactory.defaultOverrides()
                .withFallback(ConfigFactory.parseString(SETTINGS))
                .withFallback(ConfigFactory.load());
        return ActorSystem.create(Behaviors.setup(Lab::new), "lab", config);
    }

    /** Starts the behavior that {@code root} returns; it gives its sample to the consumer. */
    static Start start(ActorSystem<Start> system, Function<Consumer<Sample>, Behavior<?>> root) {
        var sample = new CompletableFuture<Sample>();
        var start = new Start(root.apply(sample::complete), sample, new CompletableFuture<>());
        system.tell(start);
        return start;
    }

    /** Same as {@link #start}, and waits for the sample, and for the end of the root and of all actors below it. */
    static Sample run(ActorSystem<Start> system, Function<Consumer<Sample>, Behavior<?>> root) throws Exception {
        return start(system, root).result();
    }

    @Override
    public Receive<Start> createReceive() {
        return newReceiveBuilder()
                .onMessage(Start.class, start -> {
                    running = start;
                    getContext().watch(getContext().spawnAnonymous(start.root()));
                    return this;
                })
                .onSignal(ChildFailed.class, failed -> {
                    running.sample().completeExceptionally(failed.getCause());
                    running.ended().complete(null);
                    return this;
                })
                .onSignal(Terminated.class, ended -> {
                    running.ended().complete(null);
                    return this;
                })
                .build();
    }
}
