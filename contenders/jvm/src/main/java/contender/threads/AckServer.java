package contender.threads;

import contender.Program.Serve;
import contender.Program.Server;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Blocking TCP servers with a virtual thread per connection: {@code ack-request-reply} and {@code ack-sync-ack}. */
final class AckServer implements Server {
    /** Size of a header in bytes: the id and the size of the payload. */
    private static final int HEAD = 12;

    /** Maximum size of a payload in bytes. */
    private static final int LARGEST = 16 << 20;

    /** Size of the read buffer in bytes, unless a message is larger. */
    private static final int BLOCK = 64 << 10;

    /** Read timeout in ms. */
    private static final int SILENCE = 5000;

    private final ServerSocket listener = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    private final Connection connection;
    private final AtomicLong acknowledged = new AtomicLong();
    private final List<Socket> sockets = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Thread acceptor;

    /** Serves one connection until its end, and adds the messages that it acknowledges. */
    private interface Connection {
        void serve(Socket socket, AtomicLong acknowledged) throws IOException;
    }

    static Serve requestReply() {
        return () -> new AckServer(AckServer::requestReply);
    }

    static Serve syncAck() {
        return () -> new AckServer(AckServer::syncAck);
    }

    private AckServer(Connection connection) throws IOException {
        this.connection = connection;
        acceptor = Thread.startVirtualThread(this::accept);
    }

    @Override
    public String address() {
        return "127.0.0.1:" + ((InetSocketAddress) listener.getLocalSocketAddress()).getPort();
    }

    private void accept() {
        try {
            while (true) {
                var socket = listener.accept();
                sockets.add(socket);
                threads.add(Thread.startVirtualThread(() -> serve(socket)));
            }
        } catch (IOException stopped) {
            // The listener is closed.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(SILENCE);
            connection.serve(socket, acknowledged);
        } catch (IOException ended) {
            // The client has left, or sent nothing for too long.
        }
    }

    @Override
    public long stop() throws Exception {
        listener.close();
        acceptor.join();
        for (var socket : sockets) {
            socket.close();
        }
        for (var thread : threads) {
            thread.join();
        }
        return acknowledged.get();
    }

    /** Replies to each message with its id. */
    private static void requestReply(Socket socket, AtomicLong acknowledged) throws IOException {
        var input = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BLOCK));
        var output = socket.getOutputStream();
        var id = new byte[Long.BYTES];
        try {
            while (true) {
                input.readFully(id);
                int size = input.readInt();
                if (size < 0 || size > LARGEST) {
                    return;
                }
                input.skipNBytes(size);
                output.write(id);
                acknowledged.incrementAndGet();
            }
        } catch (EOFException end) {
            // The client has left.
        }
    }

    /** Reads the available data and acknowledges it before the next read. */
    private static void syncAck(Socket socket, AtomicLong acknowledged) throws IOException {
        var input = socket.getInputStream();
        var output = socket.getOutputStream();
        var buffer = ByteBuffer.allocate(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
        var ack = ByteBuffer.allocate(HEAD).order(ByteOrder.LITTLE_ENDIAN);
        while (true) {
            int read = input.read(buffer.array(), buffer.position(), buffer.remaining());
            if (read < 0) {
                return;
            }
            buffer.position(buffer.position() + read).flip();
            int count = 0;
            int needed = HEAD;
            long newest = 0;
            while (buffer.remaining() >= HEAD) {
                int size = buffer.getInt(buffer.position() + Long.BYTES);
                if (size < 0 || size > LARGEST) {
                    return;
                }
                needed = HEAD + size;
                if (buffer.remaining() < needed) {
                    break;
                }
                newest = buffer.getLong(buffer.position());
                buffer.position(buffer.position() + needed);
                needed = HEAD;
                count++;
            }
            if (count > 0) {
                output.write(ack.clear().putLong(newest).putInt(count - 1).array());
                acknowledged.addAndGet(count);
            }
            buffer.compact();
            if (needed > buffer.capacity()) {
                buffer = ByteBuffer.allocate(needed).order(ByteOrder.LITTLE_ENDIAN).put(buffer.flip());
            }
        }
    }
}
