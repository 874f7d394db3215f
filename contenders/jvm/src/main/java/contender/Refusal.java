package contender;

/** Invalid request; the message is one line that names the problem. */
public final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    Refusal(String line) {
        super(line, null, false, false);
    }
}
