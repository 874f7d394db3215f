//! The contenders of a run: each is started once, kept running, and restarted after a failure.
//!
//! A sample that needs a fresh process gets one in addition to the process that is kept. An
//! experiment that watches its program's memory starts with a fresh process. With fresh processes
//! per round (`Budget::fresh`), each process answers its first request twice, and the first answer
//! is discarded.
//!
//! The load client takes samples of servers ([`served`]); a pair of programs takes samples of two
//! nodes ([`paired`](super::paired)).
//!
//! `Runtimes` is the executor of real samples. Used by one thread.

use super::answer::{Failure, Hello, Reply};
use super::client::Client;
use super::find::{CommandLine, Surroundings};
use super::paired::{self, Pairs};
use super::selection::Contender;
use super::served::{self, Resources};
use crate::experiments::SamplingMode;
use crate::interrupt::Interrupt;
use crate::profile::Budget;
use crate::sampling::{Executor, Request};

/// The contenders, by their position in the run.
pub struct Runtimes {
    members: Vec<Member>,
    resources: Resources,
    fresh: bool,
}

/// A contender with its command line and, while it runs, its client process.
struct Member {
    kind: String,
    command: CommandLine,
    pairs: Pairs,
    client: Option<Client>,
    /// The experiment for which the client's memory is watched.
    watched: Option<String>,
    /// The experiment and round for which the client was started.
    round: Option<(String, usize)>,
}

impl Runtimes {
    /// Creates the executor without contenders; the budget sets the time limit per answer.
    pub fn new(budget: &Budget, surroundings: Surroundings, interrupt: Interrupt) -> Self {
        let resources = Resources { surroundings, limit: budget.limit, interrupt, load: None };
        Self { members: Vec::new(), resources, fresh: budget.fresh }
    }

    /// Starts a contender, sends `hello` and adds it; its position is the number of contenders
    /// before it.
    ///
    /// # Errors
    ///
    /// Returns why the contender could not be started; it is not added then.
    pub fn enlist(
        &mut self,
        contender: &Contender,
        command: CommandLine,
    ) -> Result<Hello, Failure> {
        let (client, hello) = self.resources.start(&command)?;
        self.members.push(Member {
            kind: contender.kind().to_owned(),
            command,
            pairs: Pairs::default(),
            client: Some(client),
            watched: None,
            round: None,
        });
        Ok(hello)
    }

    /// Returns whether the far node of this variant can run here.
    pub fn can_pair(&self, contender: &Contender, variant: &str) -> bool {
        paired::can_pair(contender.kind(), variant, &self.resources.surroundings)
    }

    /// Returns the round-trip times of 20 empty requests to this contender, in ns, after one
    /// discarded request. Returns an empty vector if an answer was invalid; the contender is
    /// restarted then.
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
        resources: &mut Resources,
        round: Option<(String, usize)>,
        request: &Request<'_>,
    ) -> Result<Reply, Failure> {
        if request.mode == SamplingMode::Paired {
            return self.pairs.run(&self.kind, &self.command, resources, round, request);
        }
        if request.mode == SamplingMode::FreshProcess {
            return resources.start(&self.command)?.0.run_and_weigh(request);
        }
        let watched = (request.mode == SamplingMode::Watched).then_some(request.experiment);
        if watched.is_some() && self.watched.as_deref() != watched {
            // WHY: memory that other experiments left behind must not count for this one.
            self.client = None;
        }
        self.watched = watched.map(Into::into);
        if let Some(round) = round.filter(|round| self.round.as_ref() != Some(round)) {
            self.client = None;
            // WHY discarded: a program's first answer is slower than all later ones.
            self.ask(resources, request)?;
            self.round = Some(round);
        }
        self.ask(resources, request)
    }

    /// Takes one sample, and starts the program first if it does not run. A program that fails is stopped.
    fn ask(&mut self, resources: &mut Resources, request: &Request<'_>) -> Result<Reply, Failure> {
        let client = match &mut self.client {
            Some(client) => client,
            none => none.insert(resources.start(&self.command)?.0),
        };
        let answer = answered(client, resources, request);
        if matches!(answer, Err(Failure::Broken(_) | Failure::Interrupted)) {
            self.client = None;
        }
        answer
    }
}

/// Takes one sample from a program that is kept running.
fn answered(
    client: &mut Client,
    resources: &mut Resources,
    request: &Request<'_>,
) -> Result<Reply, Failure> {
    match request.mode {
        SamplingMode::Served => served::run(client, resources, request),
        SamplingMode::Watched => client.run_and_watch(request),
        _ => client.run(request),
    }
}

impl Executor for Runtimes {
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure> {
        if self.resources.interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        let Some(member) = self.members.get_mut(contender) else {
            return Err(Failure::Broken("was never started".into()));
        };
        let round = request.round.filter(|_| self.fresh);
        let round = round.map(|round| (request.experiment.to_owned(), round));
        let answer = member.run(&mut self.resources, round, request);
        // WHY: the signal that interrupted the lab may have ended the contender first.
        let ended = answer.is_err() && self.resources.interrupt.is_raised();
        if ended { Err(Failure::Interrupted) } else { answer }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::experiments::Params;
    use crate::profile::Profile;

    #[test]
    fn process_of_a_round_that_fails_is_replaced() {
        // The first process ends at its first request, all later ones answer.
        let script = r#"
            echo started >> "$0"; starts=$(wc -l < "$0")
            while read -r line; do
                case $line in
                    *hello*) echo '{"name":"one","version":"1","experiments":["tail-call"]}' ;;
                    *quit*) exit 0 ;;
                    *) [ $starts -gt 1 ] || exit 1
                       echo '{"elapsed_ns":1,"ops":1,"sent":0,"received":0}' ;;
                esac
            done"#;
        let folder = tempfile::tempdir().unwrap();
        let starts = folder.path().join("starts");
        let command = CommandLine {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into(), starts.clone().into()],
            variables: Vec::new(),
        };
        let budget = Budget { fresh: true, ..Budget::new(Profile::Quick, None, None, None) };
        let surroundings = Surroundings::from_environment();
        let mut runtimes = Runtimes::new(&budget, surroundings, Interrupt::default());
        runtimes.members.push(Member {
            kind: "one".into(),
            command,
            pairs: Pairs::default(),
            client: None,
            watched: None,
            round: None,
        });
        let request = Request {
            experiment: "tail-call",
            params: &Params::new(),
            seed: 1,
            round: Some(1),
            mode: SamplingMode::Usual,
        };
        assert!(matches!(runtimes.run(0, &request), Err(Failure::Broken(_))));
        assert!(runtimes.run(0, &request).is_ok());
        assert!(runtimes.run(0, &request).is_ok());
        let starts = std::fs::read_to_string(starts).unwrap();
        assert_eq!(starts.lines().count(), 2, "the second process answers the rest of the round");
    }
}
