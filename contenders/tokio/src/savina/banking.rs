//! `banking`: transfers between accounts, each a task.

use std::time::{Duration, Instant};

use purlin_contender::{BALANCE, Sample, Tally, transfers};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::yield_now;

use super::request::call;
use crate::flow::YIELD_EVERY;

/// Messages of an account.
enum ToAccount {
    /// Subtract an amount and deposit it at the destination.
    Transfer(i64, UnboundedSender<ToAccount>),
    /// Add an amount.
    Deposit(i64, oneshot::Sender<()>),
}

pub(crate) async fn banking(count: u64, n: u64, reps: u64) -> Sample {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let start = Instant::now();
        let (teller, mut done) = unbounded_channel();
        let open = |_| {
            let (account, mailbox) = unbounded_channel();
            (account, tokio::spawn(serve(mailbox, teller.clone())))
        };
        let (accounts, tasks): (Vec<_>, Vec<_>) = (0..count).map(open).unzip();
        for (number, transfer) in (1..).zip(transfers(count, n)) {
            let destination = accounts[transfer.destination].clone();
            let message = ToAccount::Transfer(transfer.amount, destination);
            tally.sent += u64::from(accounts[transfer.source].send(message).is_ok());
            if number % YIELD_EVERY == 0 {
                yield_now().await;
            }
        }
        for _ in 0..n {
            tally.received += u64::from(done.recv().await.is_some());
        }
        elapsed += start.elapsed();

        drop(accounts);
        for task in tasks {
            let (balance, counts) = task.await.unwrap_or_default();
            sum += balance;
            tally += counts;
        }
    }
    Sample::new(elapsed, n * reps, tally.sent, tally.received).with("sum", sum.max(0) as u64)
}

async fn serve(
    mut mailbox: UnboundedReceiver<ToAccount>,
    teller: UnboundedSender<()>,
) -> (i64, Tally) {
    let (mut balance, mut tally) = (BALANCE, Tally::default());
    while let Some(message) = mailbox.recv().await {
        tally.received += 1;
        match message {
            ToAccount::Transfer(amount, destination) => {
                balance -= amount;
                tally.sent += 1;
                let confirmed = call(&destination, |reply| ToAccount::Deposit(amount, reply)).await;
                tally.received += u64::from(confirmed.is_some());
                tally.sent += u64::from(teller.send(()).is_ok());
            }
            ToAccount::Deposit(amount, reply) => {
                balance += amount;
                tally.sent += u64::from(reply.send(()).is_ok());
            }
        }
    }
    (balance, tally)
}
