package contender.threads;

import contender.Params;
import contender.Sample;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;

/** A token that travels around a ring of threads: {@code thread-ring}. */
final class Ring {
    private Ring() {}

    private record Token(long hops) {}

    static Sample run(Params params) throws InterruptedException {
        long n = params.number("n");
        int processes = params.count("processes");
        var home = new LinkedTransferQueue<Token>();
        var mailboxes = new ArrayList<BlockingQueue<Token>>();
        for (int i = 0; i < processes; i++) {
            mailboxes.add(new LinkedTransferQueue<>());
        }
        var members = new ArrayList<Member>();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < processes; i++) {
            var member = new Member(mailboxes.get(i), mailboxes.get((i + 1) % processes), home);
            members.add(member);
            threads.add(Thread.startVirtualThread(member));
        }

        long start = System.nanoTime();
        mailboxes.getFirst().put(new Token(n));
        home.take();
        long elapsed = System.nanoTime() - start;

        long sent = 1;
        long received = 0;
        for (int i = 0; i < processes; i++) {
            mailboxes.get(i).put(Member.END);
            threads.get(i).join();
            sent += members.get(i).sent;
            received += members.get(i).received;
        }
        return new Sample(elapsed, n, sent, received);
    }

    /** Passes the token on, until no hop is left. */
    private static final class Member implements Runnable {
        static final Token END = new Token(-1);

        private final BlockingQueue<Token> mailbox;
        private final BlockingQueue<Token> next;
        private final BlockingQueue<Token> home;
        private long sent;
        private long received;

        Member(BlockingQueue<Token> mailbox, BlockingQueue<Token> next, BlockingQueue<Token> home) {
            this.mailbox = mailbox;
            this.next = next;
            this.home = home;
        }

        @Override
        public void run() {
            try {
                for (var token = mailbox.take(); token != END; token = mailbox.take()) {
                    received++;
                    if (token.hops() == 1) {
                        home.put(token);
                    } else {
                        next.put(new Token(token.hops() - 1));
                        sent++;
                    }
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
