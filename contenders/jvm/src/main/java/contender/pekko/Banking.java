package contender.pekko;

import contender.Draws;
import contender.Params;
import contender.Sample;
import contender.Savina;
import java.util.ArrayList;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;

/** Transfers between accounts: {@code banking}. */
final class Banking {
    private Banking() {}

    sealed interface ToTeller {}

    private enum Continue implements ToTeller {
        INSTANCE
    }

    /** A transfer is done. */
    private enum Done implements ToTeller {
        INSTANCE
    }

    private record Balance(long balance, long sent, long received) implements ToTeller {}

    private sealed interface ToAccount {}

    /** Subtract an amount and deposit it at the destination. */
    private record Transfer(long amount, ActorRef<ToAccount> destination) implements ToAccount {}

    /** Add an amount. */
    private record Deposit(long amount, ActorRef<ToAccount> source) implements ToAccount {}

    private enum Confirmed implements ToAccount {
        INSTANCE
    }

    private enum Report implements ToAccount {
        INSTANCE
    }

    static Behavior<ToTeller> root(Params params, Consumer<Sample> done) {
        return Behaviors.setup(context -> new Teller(context, params, done));
    }

    private static final class Teller extends AbstractBehavior<ToTeller> {
        private final long start = System.nanoTime();
        private final ArrayList<ActorRef<ToAccount>> accounts = new ArrayList<>();
        private final Draws draws = new Draws(0);
        private final long n;
        private final Consumer<Sample> done;
        private long sent;
        private long received;
        private long elapsed;
        private int balances;
        private long sum;

        Teller(ActorContext<ToTeller> context, Params params, Consumer<Sample> done) {
            super(context);
            n = params.number("n");
            this.done = done;
            for (int i = 0; i < params.count("accounts"); i++) {
                accounts.add(context.spawnAnonymous(Account.create(context.getSelf())));
            }
            context.getSelf().tell(Continue.INSTANCE);
        }

        @Override
        public Receive<ToTeller> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Done.INSTANCE, this::onDone)
                    .onMessageEquals(Continue.INSTANCE, this::onContinue)
                    .onMessage(Balance.class, this::onBalance)
                    .build();
        }

        private Behavior<ToTeller> onContinue() {
            for (long end = Math.min(n, sent + FanIn.QUANTUM); sent < end; sent++) {
                var next = Savina.Transfer.next(draws, accounts.size());
                accounts.get(next.source())
                        .tell(new Transfer(next.amount(), accounts.get(next.destination())));
            }
            if (sent < n) {
                getContext().getSelf().tell(Continue.INSTANCE);
            } else if (n == 0) {
                collect();
            }
            return this;
        }

        private Behavior<ToTeller> onDone() {
            received++;
            if (received == n) {
                collect();
            }
            return this;
        }

        private void collect() {
            elapsed = System.nanoTime() - start;
            for (var account : accounts) {
                account.tell(Report.INSTANCE);
            }
        }

        private Behavior<ToTeller> onBalance(Balance account) {
            sum += account.balance();
            sent += account.sent();
            received += account.received();
            balances++;
            if (balances < accounts.size()) {
                return this;
            }
            done.accept(new Sample(elapsed, n, sent, received).with("sum", sum));
            return Behaviors.stopped();
        }
    }

    /** Stashes all messages while it waits for a confirmation. */
    private static final class Account extends AbstractBehavior<ToAccount> {
        private final StashBuffer<ToAccount> stash;
        private final ActorRef<ToTeller> teller;
        private boolean waiting;
        private long balance = Savina.BALANCE;
        private long sent;
        private long received;

        static Behavior<ToAccount> create(ActorRef<ToTeller> teller) {
            return Behaviors.withStash(
                    Integer.MAX_VALUE, stash -> Behaviors.setup(context -> new Account(context, stash, teller)));
        }

        private Account(ActorContext<ToAccount> context, StashBuffer<ToAccount> stash, ActorRef<ToTeller> teller) {
            super(context);
            this.stash = stash;
            this.teller = teller;
        }

        @Override
        public Receive<ToAccount> createReceive() {
            return newReceiveBuilder()
                    .onMessageEquals(Confirmed.INSTANCE, this::onConfirmed)
                    .onMessage(ToAccount.class, message -> waiting, this::onOther)
                    .onMessage(Transfer.class, this::onTransfer)
                    .onMessage(Deposit.class, this::onDeposit)
                    .onMessageEquals(Report.INSTANCE, this::onReport)
                    .build();
        }

        private Behavior<ToAccount> onTransfer(Transfer transfer) {
            received++;
            balance -= transfer.amount();
            transfer.destination().tell(new Deposit(transfer.amount(), getContext().getSelf()));
            sent++;
            waiting = true;
            return this;
        }

        private Behavior<ToAccount> onDeposit(Deposit deposit) {
            received++;
            balance += deposit.amount();
            deposit.source().tell(Confirmed.INSTANCE);
            sent++;
            return this;
        }

        private Behavior<ToAccount> onOther(ToAccount message) {
            stash.stash(message);
            return this;
        }

        private Behavior<ToAccount> onConfirmed() {
            received++;
            teller.tell(Done.INSTANCE);
            sent++;
            waiting = false;
            // WHY one by one: of a whole stash, all messages after the next transfer would be stashed again.
            while (!waiting && stash.nonEmpty()) {
                stash.unstash(this, 1, message -> message);
            }
            return this;
        }

        private Behavior<ToAccount> onReport() {
            teller.tell(new Balance(balance, sent, received));
            return this;
        }
    }
}
