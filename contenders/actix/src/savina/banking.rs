//! `banking`: transfers between accounts.

use std::mem::take;
use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::{BALANCE, Sample, Tally, transfers};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use crate::Outcome;

/// An account. It waits for the confirmation of its deposit.
struct Account {
    balance: i64,
    tally: Tally,
    teller: Addr<Teller>,
}

/// Subtract the amount, deposit it at the destination, and answer the teller.
#[derive(Message)]
#[rtype(result = "()")]
struct Transfer(i64, Addr<Account>);

/// Add an amount.
#[derive(Message)]
#[rtype(result = "()")]
struct Deposit(i64);

/// Reply with the balance and the counts.
#[derive(Message)]
#[rtype(result = "(i64, Tally)")]
struct Report;

impl Actor for Account {
    type Context = Context<Self>;
}

impl Handler<Transfer> for Account {
    type Result = ();

    fn handle(&mut self, Transfer(amount, destination): Transfer, context: &mut Context<Self>) {
        self.tally.received += 1;
        self.balance -= amount;
        self.tally.sent += 1;
        let deposit = destination.send(Deposit(amount)).into_actor(self);
        context.wait(deposit.map(|confirmed, account, _| {
            account.tally.received += u64::from(confirmed.is_ok());
            account.teller.do_send(Done);
            account.tally.sent += 1;
        }));
    }
}

impl Handler<Deposit> for Account {
    type Result = ();

    fn handle(&mut self, Deposit(amount): Deposit, _: &mut Context<Self>) {
        self.tally.received += 1;
        self.balance += amount;
        self.tally.sent += 1;
    }
}

impl Handler<Report> for Account {
    type Result = MessageResult<Report>;

    fn handle(&mut self, _: Report, _: &mut Context<Self>) -> MessageResult<Report> {
        MessageResult((self.balance, self.tally))
    }
}

/// Sends all transfers and counts the answers.
struct Teller {
    accounts: Vec<Addr<Account>>,
    n: u64,
    tally: Tally,
    root: UnboundedSender<Tally>,
}

/// A transfer is done.
#[derive(Message)]
#[rtype(result = "()")]
struct Done;

impl Teller {
    fn report_if_done(&self) {
        if self.tally.received == self.n {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(self.tally);
        }
    }
}

impl Actor for Teller {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        // WHY taken: the accounts have the teller's address.
        let (accounts, n) = (take(&mut self.accounts), self.n);
        let sending = async move {
            let mut sent = 0;
            for transfer in transfers(accounts.len() as u64, n) {
                let destination = accounts[transfer.destination].clone();
                accounts[transfer.source].do_send(Transfer(transfer.amount, destination));
                sent += 1;
                consume_budget().await;
            }
            sent
        };
        // WHY `wait`: an answer must not be counted before all transfers are.
        context.wait(sending.into_actor(self).map(|sent, teller, _| {
            teller.tally.sent = sent;
            teller.report_if_done();
        }));
    }
}

impl Handler<Done> for Teller {
    type Result = ();

    fn handle(&mut self, _: Done, _: &mut Context<Self>) {
        self.tally.received += 1;
        self.report_if_done();
    }
}

pub(crate) async fn banking(count: u64, n: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let (root, mut done) = unbounded_channel();

        let start = Instant::now();
        let context = Context::new();
        let open = |_| {
            let (tally, teller) = (Tally::default(), context.address());
            Account { balance: BALANCE, tally, teller }.start()
        };
        let accounts: Vec<_> = (0..count).map(open).collect();
        context.run(Teller { accounts: accounts.clone(), n, tally: Tally::default(), root });
        tally += done.recv().await.unwrap_or_default();
        elapsed += start.elapsed();

        for account in accounts {
            let (balance, counts) = account.send(Report).await?;
            sum += balance;
            tally += counts;
        }
    }
    let sum = u64::try_from(sum).unwrap_or(0);
    Ok(Sample::new(elapsed, n * reps, tally.sent, tally.received).with("sum", sum))
}
