package contender;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The contender protocol on standard input and output: reads requests, runs experiments and servers, and writes
 * answers.
 *
 * <p>Before the first answer for an experiment, the same request is run until {@link #WARM_UP} has passed, and the
 * results are discarded: the just-in-time compiler then has compiled the code that is measured.
 */
public final class Program {
    /** Maximum length of a request in bytes, including the newline. */
    private static final int LINE_MAX = 1 << 20;

    /** Minimum duration of the runs before the first answer for an experiment, in ns. */
    private static final long WARM_UP = 1_000_000_000L;

    /** Experiments without warm-up: a process of which nothing else is asked is measured from outside. */
    private static final Set<String> COLD = Set.of("idle-memory");

    private static final String OPS = "\"hello\", \"run\", \"serve\", \"stop\" or \"quit\"";

    private final String name;
    private final String version;
    private final List<String> notes;
    private final Map<String, Run> runs;
    private final Map<String, Serve> servers;
    private final Set<String> warm = new HashSet<>();
    private Server server;

    /** Runs an experiment. */
    public interface Run {
        Sample run(Params params) throws Exception;
    }

    /** Starts a server. */
    public interface Serve {
        Server serve() throws IOException;
    }

    /** A running server. */
    public interface Server {
        /** Returns the address as HOST:PORT. */
        String address();

        /** Stops the server; returns the number of messages it has acknowledged. */
        long stop() throws Exception;
    }

    /** Creates the program with the notes of its contender; the notes about the JVM follow them. */
    public Program(
            String name, String version, List<String> notes, Map<String, Run> runs, Map<String, Serve> servers) {
        this.name = name;
        this.version = version;
        this.notes = notes;
        this.runs = new LinkedHashMap<>(runs);
        this.servers = servers;
        this.runs.put("tail-call", Work::tailCall);
        this.runs.computeIfPresent(
                "call-vs-send",
                (id, remote) -> params ->
                        params.word("mode").equals("local") ? Work.local(params.number("n")) : remote.run(params));
    }

    /** Answers requests until {@code quit} or the end of input. */
    public void serve() throws IOException {
        var input = new BufferedInputStream(System.in, 1 << 16);
        while (true) {
            Map<String, Object> answer;
            try {
                var line = line(input);
                if (line == null) {
                    return;
                }
                answer = answer(line);
                if (answer == null) {
                    return;
                }
            } catch (Refusal refusal) {
                answer = Map.of("error", refusal.getMessage());
            } catch (Exception | OutOfMemoryError | StackOverflowError error) {
                answer = Map.of("error", error.toString().replace('\n', ' '));
            }
            System.out.write((Json.text(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            System.out.flush();
        }
    }

    /** Returns the next line; {@code null} at the end of input. */
    private static String line(InputStream input) throws IOException, Refusal {
        var line = new ByteArrayOutputStream();
        boolean tooLong = false;
        int next;
        while ((next = input.read()) >= 0 && next != '\n') {
            if (line.size() < LINE_MAX - 1) {
                line.write(next);
            } else {
                tooLong = true;
            }
        }
        if (next < 0 && line.size() == 0) {
            return null;
        }
        if (tooLong) {
            throw new Refusal("the line is longer than " + LINE_MAX + " bytes");
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line.toByteArray())).toString();
        } catch (CharacterCodingException error) {
            throw new Refusal("the line is not UTF-8");
        }
    }

    /** Returns the answer to a request; {@code null} if the request is to quit. */
    private Map<String, Object> answer(String line) throws Exception {
        if (!(Json.parse(line) instanceof Map<?, ?> request)) {
            throw new Refusal("a request is a JSON object in one line");
        }
        if (!(request.get("op") instanceof String op)) {
            throw new Refusal("a request has an \"op\": " + OPS);
        }
        return switch (op) {
            case "hello" -> hello();
            case "run" -> run(request);
            case "serve" -> start(request);
            case "stop" -> stop();
            case "quit" -> null;
            default -> throw new Refusal("unknown op " + Params.shown(op) + "; this contender knows " + OPS);
        };
    }

    private Map<String, Object> hello() {
        var hello = new LinkedHashMap<String, Object>();
        hello.put("name", name);
        hello.put("version", version + " on " + Jvm.version());
        hello.put("os_pid", ProcessHandle.current().pid());
        var experiments = new ArrayList<>(Experiments.among(runs.keySet()));
        experiments.addAll(servers.keySet());
        hello.put("experiments", experiments);
        var all = new ArrayList<>(notes);
        all.addAll(Jvm.notes());
        hello.put("notes", all);
        return hello;
    }

    private static String experiment(Map<?, ?> request, Set<String> known) throws Refusal {
        if (!(request.get("experiment") instanceof String experiment)) {
            throw new Refusal("\"experiment\" must be a string, and be there");
        }
        if (!known.contains(experiment)) {
            throw new Refusal("unknown experiment " + Params.shown(experiment) + "; this contender knows "
                    + String.join(", ", known));
        }
        return experiment;
    }

    private static Map<?, ?> given(Map<?, ?> request) throws Refusal {
        var given = request.containsKey("params") ? request.get("params") : Map.of();
        if (given instanceof Map<?, ?> params) {
            return params;
        }
        throw new Refusal("\"params\" must be an object, not " + Params.shown(given));
    }

    private Map<String, Object> run(Map<?, ?> request) throws Exception {
        var experiment = experiment(request, runs.keySet());
        Long seed = request.containsKey("seed") ? Params.integer(request.get("seed")) : Long.valueOf(0);
        if (seed == null || seed < 0) {
            throw new Refusal("\"seed\" must be a non-negative integer");
        }
        var params = Experiments.read(experiment, given(request)).seeded(seed);
        var run = runs.get(experiment);
        if (!COLD.contains(experiment) && warm.add(experiment + params.words())) {
            long start = System.nanoTime();
            do {
                run.run(params);
            } while (System.nanoTime() - start < WARM_UP);
        }
        return run.run(params).answer();
    }

    private Map<String, Object> start(Map<?, ?> request) throws Exception {
        var experiment = experiment(request, servers.keySet());
        Params.read(experiment, List.of(), given(request));
        if (server != null) {
            throw new Refusal("a server is running; stop it first");
        }
        server = servers.get(experiment).serve();
        return Map.of("address", server.address());
    }

    private Map<String, Object> stop() throws Exception {
        if (server == null) {
            throw new Refusal("no server is running");
        }
        var stopped = server;
        server = null;
        return Map.of("received", stopped.stop());
    }
}
