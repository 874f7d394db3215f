package contender;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.Collectors;

/** Version and settings of the JVM, for the report. */
final class Jvm {
    private Jvm() {}

    static String version() {
        return "JDK %s (%s)".formatted(Runtime.version(), System.getProperty("java.vendor"));
    }

    static List<String> notes() {
        var collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(collector -> collector.getName())
                .collect(Collectors.joining(", "));
        var flags = String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments());
        var runtime = Runtime.getRuntime();
        return List.of(
                "%s on %d processors; garbage collector: %s; heap of %d MiB at most; flags: %s"
                        .formatted(
                                System.getProperty("java.vm.name"),
                                runtime.availableProcessors(),
                                collectors,
                                runtime.maxMemory() >> 20,
                                flags.isEmpty() ? "none" : flags),
                "warm-up: before its first answer for an experiment the program repeats the request for at least a second, unseen, so that the compiler has optimised what is measured; idle-memory has none",
                "there are no tail calls: a loop whose step is a variable counts down");
    }
}
