//! All contenders of a run: started once, kept, started afresh after a failure. A sample that
//! wants a program of its own gets one, beside the one that is kept; an experiment that watches its
//! program begins with a fresh one. If each round is to have its own programs (`Budget::fresh`), each
//! answers its first question twice, for the first time unheard.
//!
//! A sample of a server is taken by the one client of all ([`served`]).
//!
//! The executor of real samples. Used by one thread.

use std::time::Duration;

use super::answer::{Hello, Reply};
use super::client::{Client, Failure};
use super::find::CommandLine;
use super::served::{self, LoadClient};
use crate::experiments::Manner;
use crate::interrupt::Interrupt;
use crate::profile::Budget;
use crate::sampling::{Executor, Request};

/// The contenders, by their place in the run.
pub struct Fleet {
    members: Vec<Member>,
    load: LoadClient,
    limit: Duration,
    fresh: bool,
    interrupt: Interrupt,
}

struct Member {
    command: CommandLine,
    client: Option<Client>,
    /// The experiment in which the client is watched.
    watched: Option<String>,
    /// The round that the client was started for.
    round: Option<(String, usize)>,
}

impl Fleet {
    /// An empty fleet whose members have as long for each answer as the budget says; `load` is the
    /// client that sends to those that serve.
    #[must_use]
    pub fn new(budget: &Budget, load: CommandLine, interrupt: Interrupt) -> Self {
        let load = LoadClient::new(load, budget.limit, interrupt.clone());
        let (limit, fresh) = (budget.limit, budget.fresh);
        Self { members: Vec::new(), load, limit, fresh, interrupt }
    }

    /// Starts a contender, greets it and takes it in; its place is the number of those before it.
    ///
    /// # Errors
    ///
    /// Why it could not be started; then it has no place.
    pub fn enlist(&mut self, command: CommandLine) -> Result<Hello, Failure> {
        let (client, hello) = Client::start(&command, self.limit, &self.interrupt)?;
        self.members.push(Member { command, client: Some(client), watched: None, round: None });
        Ok(hello)
    }
}

impl Fleet {
    /// What some requests to this contender took that ask for nothing, in ns, the first left out.
    /// Empty if it answered one of them wrongly; it is started afresh then.
    pub fn round_trips(&mut self, contender: usize) -> Vec<f64> {
        const TRIPS: usize = 20;
        let Some(member) = self.members.get_mut(contender) else { return Vec::new() };
        let Some(client) = &mut member.client else { return Vec::new() };
        let trips: Result<Vec<f64>, Failure> = (0..=TRIPS).map(|_| client.round_trip()).collect();
        match trips {
            Ok(trips) => trips.into_iter().skip(1).collect(),
            Err(_) => {
                member.client = None;
                Vec::new()
            }
        }
    }
}

impl Member {
    fn run(
        &mut self,
        load: &mut LoadClient,
        limit: Duration,
        interrupt: &Interrupt,
        round: Option<(String, usize)>,
        request: &Request<'_>,
    ) -> Result<Reply, Failure> {
        let start = || Client::start(&self.command, limit, interrupt);
        if request.manner == Manner::Afresh {
            return start()?.0.run_and_weigh(request);
        }
        let watched = (request.manner == Manner::Watched).then_some(request.experiment);
        if watched.is_some() && self.watched.as_deref() != watched {
            // WHY: what other experiments left behind is none of this one's memory.
            self.client = None;
        }
        self.watched = watched.map(Into::into);
        if let Some(round) = round.filter(|round| self.round.as_ref() != Some(round)) {
            self.round = Some(round);
            // WHY unheard: a program's first answer is slower than all others.
            answered(self.client.insert(start()?.0), load, request)?;
        }
        let client = match &mut self.client {
            Some(client) => client,
            none => none.insert(start()?.0),
        };
        let answer = answered(client, load, request);
        if matches!(answer, Err(Failure::Broken(_) | Failure::Interrupted)) {
            self.client = None;
        }
        answer
    }
}

/// One answer of a program that is kept.
fn answered(
    client: &mut Client,
    load: &mut LoadClient,
    request: &Request<'_>,
) -> Result<Reply, Failure> {
    match request.manner {
        Manner::Served => served::run(client, load, request),
        Manner::Watched => client.run_and_watch(request),
        _ => client.run(request),
    }
}

impl Executor for Fleet {
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure> {
        if self.interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        let Some(member) = self.members.get_mut(contender) else {
            return Err(Failure::Broken("was never started".into()));
        };
        let round = request.round.filter(|_| self.fresh);
        let round = round.map(|round| (request.experiment.to_owned(), round));
        let answer = member.run(&mut self.load, self.limit, &self.interrupt, round, request);
        // WHY: whoever ended the lab may have ended the contender first.
        let ended = answer.is_err() && self.interrupt.is_raised();
        if ended { Err(Failure::Interrupted) } else { answer }
    }
}
