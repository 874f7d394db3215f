//! `banking`: transfers between accounts.

use std::time::{Duration, Instant};

use purlin_contender::{BALANCE, Sample, Tally, transfers};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use super::ask::ask;
use crate::Outcome;

/// An account. It deposits with a call.
struct Account;

/// Messages of an account.
enum ToAccount {
    /// Subtract an amount, deposit it at the destination, and answer the teller.
    Transfer(i64, ActorRef<ToAccount>, ActorRef<Done>),
    /// Add an amount.
    Deposit(i64, RpcReplyPort<()>),
    /// Reply with the balance and the counts, and stop.
    Report(RpcReplyPort<Balance>),
}

#[derive(Clone, Copy)]
struct Balance {
    amount: i64,
    tally: Tally,
}

impl Actor for Account {
    type Msg = ToAccount;
    type State = Balance;
    type Arguments = ();

    async fn pre_start(
        &self,
        _: ActorRef<ToAccount>,
        (): (),
    ) -> Result<Balance, ActorProcessingErr> {
        Ok(Balance { amount: BALANCE, tally: Tally::default() })
    }

    async fn handle(
        &self,
        myself: ActorRef<ToAccount>,
        message: ToAccount,
        balance: &mut Balance,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToAccount::Transfer(amount, destination, teller) => {
                balance.tally.received += 1;
                balance.amount -= amount;
                balance.tally.sent += 1;
                ask!(destination, ToAccount::Deposit, amount)?;
                balance.tally.received += 1;
                balance.tally.sent += u64::from(teller.cast(Done).is_ok());
            }
            ToAccount::Deposit(amount, reply) => {
                balance.tally.received += 1;
                balance.amount += amount;
                balance.tally.sent += u64::from(reply.send(()).is_ok());
            }
            ToAccount::Report(reply) => {
                reply.send(*balance)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

/// Sends all transfers and counts the answers.
struct Teller;

/// Message of the teller: a transfer is done.
struct Done;

struct Transfers {
    accounts: Vec<ActorRef<ToAccount>>,
    n: u64,
    tally: Tally,
    root: UnboundedSender<Tally>,
}

impl Transfers {
    fn report_if_done(&self, myself: &ActorRef<Done>) -> Result<(), ActorProcessingErr> {
        if self.tally.received == self.n {
            self.root.send(self.tally)?;
            myself.stop(None);
        }
        Ok(())
    }
}

impl Actor for Teller {
    type Msg = Done;
    type State = Transfers;
    type Arguments = Transfers;

    async fn pre_start(
        &self,
        _: ActorRef<Done>,
        state: Transfers,
    ) -> Result<Transfers, ActorProcessingErr> {
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<Done>,
        state: &mut Transfers,
    ) -> Result<(), ActorProcessingErr> {
        for transfer in transfers(state.accounts.len() as u64, state.n) {
            let destination = state.accounts[transfer.destination].clone();
            let order = ToAccount::Transfer(transfer.amount, destination, myself.clone());
            state.tally.sent += u64::from(state.accounts[transfer.source].cast(order).is_ok());
            consume_budget().await;
        }
        state.report_if_done(&myself)
    }

    async fn handle(
        &self,
        myself: ActorRef<Done>,
        _: Done,
        state: &mut Transfers,
    ) -> Result<(), ActorProcessingErr> {
        state.tally.received += 1;
        state.report_if_done(&myself)
    }
}

pub(crate) async fn banking(count: u64, n: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let (root, mut done) = unbounded_channel();

        let start = Instant::now();
        let mut accounts = Vec::new();
        for _ in 0..count {
            accounts.push(Actor::spawn(None, Account, ()).await?.0);
        }
        let state = Transfers { accounts: accounts.clone(), n, tally: Tally::default(), root };
        Actor::spawn(None, Teller, state).await?;
        tally += done.recv().await.unwrap_or_default();
        elapsed += start.elapsed();

        for account in accounts {
            let balance = ask!(account, ToAccount::Report)?;
            sum += balance.amount;
            tally += balance.tally;
        }
    }
    let sum = u64::try_from(sum).unwrap_or(0);
    Ok(Sample::new(elapsed, n * reps, tally.sent, tally.received).with("sum", sum))
}
