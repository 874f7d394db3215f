package contender.threads;

import contender.Draws;
import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Threads that ping each other at random: {@code big}. */
final class Big {
    private Big() {}

    private sealed interface Message {}

    private record Ping(BlockingQueue<Message> from) implements Message {}

    private record Pong() implements Message {}

    private record End() implements Message {}

    static Sample run(Params params) throws Exception {
        int processes = params.count("processes");
        long n = params.number("n");

        long start = System.nanoTime();
        var root = new LinkedTransferQueue<Boolean>();
        var members = new ArrayList<BlockingQueue<Message>>();
        for (int i = 0; i < processes; i++) {
            members.add(new LinkedTransferQueue<>());
        }
        var tasks = new ArrayList<Future<Tasks.Counted>>();
        for (int i = 0; i < processes; i++) {
            int number = i;
            tasks.add(Tasks.start(() -> new Member(number, n, members, root).run()));
        }
        for (int i = 0; i < processes; i++) {
            root.take();
        }
        long elapsed = System.nanoTime() - start;

        for (var member : members) {
            member.put(new End());
        }
        long sent = 0;
        long received = 0;
        for (var task : tasks) {
            var counted = task.get();
            sent += counted.sent();
            received += counted.received();
        }
        return new Sample(elapsed, processes * n, sent, received);
    }

    private static final class Member {
        private final BlockingQueue<Message> mailbox;
        private final Draws draws;
        private final List<BlockingQueue<Message>> members;
        private final BlockingQueue<Boolean> root;
        private long left;
        private long sent;
        private long received;

        Member(int number, long n, List<BlockingQueue<Message>> members, BlockingQueue<Boolean> root) {
            mailbox = members.get(number);
            draws = new Draws(number);
            left = n;
            this.members = members;
            this.root = root;
        }

        Tasks.Counted run() throws InterruptedException {
            pingOrReport();
            while (true) {
                switch (mailbox.take()) {
                    case Ping ping -> {
                        received++;
                        ping.from().put(new Pong());
                        sent++;
                    }
                    case Pong pong -> {
                        received++;
                        pingOrReport();
                    }
                    case End end -> {
                        return new Tasks.Counted(sent, received);
                    }
                }
            }
        }

        private void pingOrReport() throws InterruptedException {
            if (left == 0) {
                root.put(true);
                return;
            }
            left--;
            members.get((int) draws.below(members.size())).put(new Ping(mailbox));
            sent++;
        }
    }
}
