//! `banking`: transfers between accounts.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::{BALANCE, Sample, Tally, transfers};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use crate::Outcome;

/// An account. It deposits with a call.
#[derive(Actor)]
struct Account {
    balance: i64,
    tally: Tally,
    teller: ActorRef<Teller>,
}

/// Subtract the amount, deposit it at the destination, and answer the teller.
struct Transfer(i64, ActorRef<Account>);

/// Add an amount.
struct Deposit(i64);

/// Reply with the balance and the counts.
struct Report;

/// Reply to `Report`.
#[derive(Reply)]
struct Balance(i64, Tally);

impl Message<Transfer> for Account {
    type Reply = ();

    async fn handle(&mut self, Transfer(amount, destination): Transfer, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.balance -= amount;
        self.tally.sent += 1;
        let confirmed = destination.ask(Deposit(amount)).send().await;
        self.tally.received += u64::from(confirmed.is_ok());
        self.tally.sent += u64::from(self.teller.tell(Done).send().await.is_ok());
    }
}

impl Message<Deposit> for Account {
    type Reply = ();

    async fn handle(&mut self, Deposit(amount): Deposit, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.balance += amount;
        self.tally.sent += 1;
    }
}

impl Message<Report> for Account {
    type Reply = Balance;

    async fn handle(&mut self, _: Report, _: &mut Context<Self, Balance>) -> Balance {
        Balance(self.balance, self.tally)
    }
}

/// Sends all transfers and counts the answers.
struct Teller {
    n: u64,
    tally: Tally,
    root: UnboundedSender<Tally>,
}

/// A transfer is done.
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
    type Args = (Self, Vec<ActorRef<Account>>);
    type Error = Infallible;

    async fn on_start(
        (mut teller, accounts): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        for transfer in transfers(accounts.len() as u64, teller.n) {
            let order = Transfer(transfer.amount, accounts[transfer.destination].clone());
            let sent = accounts[transfer.source].tell(order).send().await;
            teller.tally.sent += u64::from(sent.is_ok());
            consume_budget().await;
        }
        teller.report_if_done();
        Ok(teller)
    }
}

impl Message<Done> for Teller {
    type Reply = ();

    async fn handle(&mut self, _: Done, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.report_if_done();
    }
}

/// WHY no bound: accounts and the teller send to each other from their handlers, and the teller
/// would never receive an answer while it waits for room in a mailbox.
pub(crate) async fn banking(count: u64, n: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let (root, mut done) = unbounded_channel();

        let start = Instant::now();
        let teller = Teller::prepare_with_mailbox(unbounded());
        let open = |_| {
            let (tally, teller) = (Tally::default(), teller.actor_ref().clone());
            Account::spawn_with_mailbox(Account { balance: BALANCE, tally, teller }, unbounded())
        };
        let accounts: Vec<_> = (0..count).map(open).collect();
        teller.spawn((Teller { n, tally: Tally::default(), root }, accounts.clone()));
        tally += done.recv().await.unwrap_or_default();
        elapsed += start.elapsed();

        for account in accounts {
            let Balance(balance, counts) = account.ask(Report).send().await?;
            sum += balance;
            tally += counts;
        }
    }
    let sum = u64::try_from(sum).unwrap_or(0);
    Ok(Sample::new(elapsed, n * reps, tally.sent, tally.received).with("sum", sum))
}
