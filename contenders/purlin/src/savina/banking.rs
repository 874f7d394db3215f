//! `banking`: transfers between accounts, each a process.

use std::time::{Duration, Instant};

use purlin::{Pid, Process, Reply, consume_budget, spawn};
use purlin_contender::{BALANCE, Sample, Tally, transfers};

/// Messages of an account.
enum ToAccount {
    /// Subtract an amount and deposit it at the destination.
    Transfer(i64, Pid<ToAccount>),
    /// Add an amount.
    Deposit(i64, Reply<()>),
    /// Report and end.
    Close(Reply<(i64, Tally)>),
}

/// Message of the teller: a transfer is complete.
pub(crate) struct Done;

pub(crate) async fn banking(mut me: Process<Done>, count: u64, n: u64, reps: u64) -> Sample {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let start = Instant::now();
        let open = |_| {
            let teller = me.pid();
            spawn(move |me| account(me, teller))
        };
        let accounts: Vec<_> = (0..count).map(open).collect();
        for transfer in transfers(count, n) {
            let destination = accounts[transfer.destination].clone();
            accounts[transfer.source].send(ToAccount::Transfer(transfer.amount, destination));
            tally.sent += 1;
            consume_budget().await;
        }
        for _ in 0..n {
            me.receive().await;
            tally.received += 1;
        }
        elapsed += start.elapsed();

        for account in accounts {
            let (balance, counts) = account.call(ToAccount::Close).await.unwrap_or_default();
            sum += balance;
            tally += counts;
        }
    }
    Sample::new(elapsed, n * reps, tally.sent, tally.received).with("sum", sum.max(0) as u64)
}

async fn account(mut me: Process<ToAccount>, teller: Pid<Done>) {
    let (mut balance, mut tally) = (BALANCE, Tally::default());
    loop {
        match me.receive().await {
            ToAccount::Transfer(amount, destination) => {
                tally.received += 1;
                balance -= amount;
                tally.sent += 1;
                let confirmed = destination.call(|reply| ToAccount::Deposit(amount, reply)).await;
                tally.received += u64::from(confirmed.is_ok());
                teller.send(Done);
                tally.sent += 1;
            }
            ToAccount::Deposit(amount, reply) => {
                tally.received += 1;
                balance += amount;
                reply.send(());
                tally.sent += 1;
            }
            ToAccount::Close(reply) => return reply.send((balance, tally)),
        }
    }
}
