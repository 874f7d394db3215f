//! `banking`: transfers between accounts, each a coroutine.

use std::time::{Duration, Instant};

use may::coroutine::yield_now;
use may::go;
use may::sync::mpsc::{Receiver, Sender, channel};
use may::sync::spsc;
use purlin_contender::{BALANCE, Sample, Tally, transfers};

use crate::channels::{call, receive};
use crate::messages::YIELD_EVERY;

/// Messages of an account.
enum ToAccount {
    /// Subtract an amount and deposit it at the destination.
    Transfer(i64, Sender<ToAccount>),
    /// Add an amount.
    Deposit(i64, spsc::Sender<()>),
}

pub(crate) fn banking(count: u64, n: u64, reps: u64) -> Sample {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let start = Instant::now();
        let (teller, done) = channel();
        let open = |_| {
            let (account, mailbox) = channel();
            let teller = teller.clone();
            (account, go!(move || serve(mailbox, teller)))
        };
        let (accounts, tasks): (Vec<_>, Vec<_>) = (0..count).map(open).unzip();
        for (number, transfer) in (1..).zip(transfers(count, n)) {
            let destination = accounts[transfer.destination].clone();
            let message = ToAccount::Transfer(transfer.amount, destination);
            tally.sent += u64::from(accounts[transfer.source].send(message).is_ok());
            if number % YIELD_EVERY == 0 {
                yield_now();
            }
        }
        for _ in 0..n {
            tally.received += u64::from(receive(&done).is_some());
        }
        elapsed += start.elapsed();

        drop(accounts);
        for task in tasks {
            let (balance, counts) = task.join().unwrap_or_default();
            sum += balance;
            tally += counts;
        }
    }
    Sample::new(elapsed, n * reps, tally.sent, tally.received).with("sum", sum.max(0) as u64)
}

fn serve(mailbox: Receiver<ToAccount>, teller: Sender<()>) -> (i64, Tally) {
    let (mut balance, mut tally) = (BALANCE, Tally::default());
    while let Some(message) = receive(&mailbox) {
        tally.received += 1;
        match message {
            ToAccount::Transfer(amount, destination) => {
                balance -= amount;
                tally.sent += 1;
                let confirmed = call(&destination, |reply| ToAccount::Deposit(amount, reply));
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
