package contender.threads;

import contender.Draws;
import contender.Params;
import contender.Sample;
import contender.Savina;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;

/** Transfers between accounts, each a thread: {@code banking}. */
final class Banking {
    private Banking() {}

    private sealed interface Message {}

    /** Subtract an amount and deposit it at the destination. */
    private record Transfer(long amount, BlockingQueue<Message> destination) implements Message {}

    /** Add an amount. */
    private record Deposit(long amount, CompletableFuture<Boolean> confirmed) implements Message {}

    private record End() implements Message {}

    private record Balance(long balance, long sent, long received) {}

    static Sample run(Params params) throws Exception {
        int count = params.count("accounts");
        long n = params.number("n");
        var draws = new Draws(0);
        long sent = 0;
        long received = 0;
        long sum = 0;

        long start = System.nanoTime();
        var teller = new LinkedTransferQueue<Boolean>();
        var accounts = new ArrayList<BlockingQueue<Message>>();
        var balances = new ArrayList<Future<Balance>>();
        for (int i = 0; i < count; i++) {
            var mailbox = new LinkedTransferQueue<Message>();
            accounts.add(mailbox);
            balances.add(Tasks.start(() -> serve(mailbox, teller)));
        }
        for (; sent < n; sent++) {
            var next = Savina.Transfer.next(draws, count);
            accounts.get(next.source()).put(new Transfer(next.amount(), accounts.get(next.destination())));
        }
        for (; received < n; received++) {
            teller.take();
        }
        long elapsed = System.nanoTime() - start;

        for (var account : accounts) {
            account.put(new End());
        }
        for (var balance : balances) {
            var account = balance.get();
            sum += account.balance();
            sent += account.sent();
            received += account.received();
        }
        return new Sample(elapsed, n, sent, received).with("sum", sum);
    }

    private static Balance serve(BlockingQueue<Message> mailbox, BlockingQueue<Boolean> teller) throws Exception {
        long balance = Savina.BALANCE;
        long sent = 0;
        long received = 0;
        while (true) {
            switch (mailbox.take()) {
                case Transfer transfer -> {
                    received++;
                    balance -= transfer.amount();
                    sent++;
                    boolean confirmed =
                            Tasks.call(transfer.destination(), reply -> new Deposit(transfer.amount(), reply));
                    received += confirmed ? 1 : 0;
                    teller.put(true);
                    sent++;
                }
                case Deposit deposit -> {
                    received++;
                    balance += deposit.amount();
                    deposit.confirmed().complete(true);
                    sent++;
                }
                case End end -> {
                    return new Balance(balance, sent, received);
                }
            }
        }
    }
}
