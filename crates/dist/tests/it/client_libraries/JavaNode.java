import com.ericsson.otp.erlang.OtpConnection;
import com.ericsson.otp.erlang.OtpErlangAtom;
import com.ericsson.otp.erlang.OtpErlangExit;
import com.ericsson.otp.erlang.OtpErlangLong;
import com.ericsson.otp.erlang.OtpErlangObject;
import com.ericsson.otp.erlang.OtpErlangPid;
import com.ericsson.otp.erlang.OtpErlangTuple;
import com.ericsson.otp.erlang.OtpMbox;
import com.ericsson.otp.erlang.OtpNode;
import com.ericsson.otp.erlang.OtpPeer;
import com.ericsson.otp.erlang.OtpSelf;
import java.io.BufferedReader;
import java.io.InputStreamReader;

/** A Java node for the tests: runs the commands of standard input with jinterface, one per line, and prints one line for each. */
final class JavaNode {
    private final OtpNode node;
    private final String cookie;
    private OtpMbox box;
    /** The peer's node, and the sender of the last message that was printed. */
    private String peer;
    private OtpErlangPid partner;
    private int callers;

    private JavaNode(String name, String cookie) throws Exception {
        node = new OtpNode(name + "@127.0.0.1", cookie);
        this.cookie = cookie;
        box = node.createMbox("box");
    }

    public static void main(String[] arguments) throws Exception {
        var java = new JavaNode(arguments[0], arguments[1]);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(java.run(line.split(" ")));
        }
        System.exit(0);
    }

    private String run(String[] words) throws Exception {
        switch (words[0]) {
            case "connect":
                peer = words[1];
                return "ok";
            case "accept":
                return "listening";
            case "ping":
                return box.ping(peer, 600_000) ? "pong" : "pang";
            case "send":
                box.send(words[1], peer, tuple(box.self(), new OtpErlangAtom("hello")));
                return "ok";
            case "answer":
                box.send(partner, new OtpErlangAtom(words[1]));
                return "ok";
            case "receive":
                return receive();
            case "rpc":
                return call(words[1], words[2], Long.parseLong(words[3]));
            case "link":
                box.link(partner);
                return "ok";
            case "unlink":
                box.unlink(partner);
                return "ok";
            case "exit":
                box.exit(partner, words[1]);
                return "ok";
            case "end":
                // The mailbox ends, and the node continues with another one.
                box.exit(words[1]);
                box = node.createMbox("box");
                return "ok";
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private String receive() throws Exception {
        OtpErlangObject message;
        try {
            message = box.receive();
        } catch (OtpErlangExit exit) {
            return "exit " + exit.reason();
        }
        if (!(message instanceof OtpErlangTuple)) {
            return message.toString();
        }
        var tuple = (OtpErlangTuple) message;
        if (tuple.arity() == 2 && tuple.elementAt(0) instanceof OtpErlangPid) {
            partner = (OtpErlangPid) tuple.elementAt(0);
            return tuple.elementAt(1).toString();
        }
        // {'$gen_call', {From, Tag}, Request} is answered with {Tag, Request}.
        var from = (OtpErlangTuple) tuple.elementAt(1);
        box.send((OtpErlangPid) from.elementAt(0), tuple(from.elementAt(1), tuple.elementAt(2)));
        return "call " + tuple.elementAt(2);
    }

    /**
     * Calls a function with a number, from a node and a connection of its own, as jinterface has it. Each node has
     * another name: the peer may not have noticed yet that the last connection has ended, and jinterface gives up then.
     */
    private String call(String module, String function, long argument) throws Exception {
        callers++;
        var caller = new OtpSelf("caller" + callers + "@127.0.0.1", cookie);
        OtpConnection connection = caller.connect(new OtpPeer(peer));
        connection.sendRPC(module, function, new OtpErlangObject[] {new OtpErlangLong(argument)});
        String result = connection.receiveRPC().toString();
        connection.close();
        return result;
    }

    private static OtpErlangTuple tuple(OtpErlangObject... elements) {
        return new OtpErlangTuple(elements);
    }
}
