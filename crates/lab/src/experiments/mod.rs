//! The experiments: what each asks of a contender, and what an honest answer holds.
//!
//! One file per group, one [`Experiment`] each. Everything here is data and
//! pure functions: nothing starts a program, reads a clock or rolls dice. Of
//! the machine only `hog`, `signals` and `ack-sync-or-async` want to know something: how many cores it
//! has.
//! Sampling asks an experiment for its points, the results ask it for its
//! figure, and both trust [`Experiment::check`] alone about what is void.

pub(crate) mod acks;
mod asking;
mod calls;
mod checks;
mod exchange;
mod exits;
mod flow;
mod hog;
mod nodes;
mod points;
pub(crate) mod signals;
mod spawning;
mod trees;
mod waiting;

use std::fmt;

use serde_json::{Map, Value};

use crate::contender::Reply;
use crate::error::Problem;
use crate::profile::{FEWEST, Profile};

/// The parameters of one request, as they are sent.
pub type Params = Map<String, Value>;

/// Why a sample counts for nothing; one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Void(pub String);

impl fmt::Display for Void {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Which way a figure is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less is better: a time.
    Lower,
    /// More is better: a rate.
    Higher,
}

impl Better {
    /// As it is written in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }
}

/// The axis of the swept value.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// The parameter that is swept.
    pub param: &'static str,
    /// What it means.
    pub label: &'static str,
    /// `linear` or `log`.
    pub scale: &'static str,
}

/// What is plotted against it.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// What it means.
    pub label: &'static str,
    /// The unit of the stored figures.
    pub unit: &'static str,
}

/// A parameter that is set by time, for each contender by itself.
#[derive(Debug, Clone, Copy)]
pub struct Scaled {
    /// Its name.
    pub param: &'static str,
    /// The value of the first run.
    pub start: u64,
    /// The value it never passes.
    pub cap: u64,
    /// The share of a sample's time that this point is to take.
    pub share: f64,
    /// Whether n is found in the recorded steps of `call-vs-send`.
    pub stepped: bool,
}

/// One set of parameters that is sampled.
#[derive(Debug, Clone)]
pub struct Point {
    /// The swept value, where the experiment sweeps and this is no baseline.
    pub x: Option<u64>,
    /// What is asked; a scaled parameter is added when it is known.
    pub params: Params,
    /// What is set by time.
    pub scaled: Option<Scaled>,
}

/// How samples become the principal figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Time per operation in ns; in a sweep the one at this x.
    PerOperation(Option<u64>),
    /// Time of the whole in ms.
    Whole,
    /// Operations per second; in a sweep those at this x.
    Rate(Option<u64>),
    /// Slope of time against x in ns, over this parameter where there is one.
    Slope(Option<&'static str>),
    /// Elements per second at the x where they are most.
    Bandwidth,
    /// Time per remote operation above the local one in ns.
    Above,
    /// Time per operation at the second point over that at the first.
    Over,
    /// The median round trip of the open loop in µs.
    Trips,
    /// Time per operation in µs.
    Micros,
    /// Resident memory per operation in bytes.
    Footprint,
    /// Throughput of `signals`, computed in two ways.
    Signals,
    /// Operations per second at each point, in pictures by cores and connections.
    SyncOrAsync,
}

/// How the samples are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// In every round, from the program that runs.
    Usual,
    /// The same, from a program that has run nothing else. The most memory that it has in a sample
    /// is read from outside, and stands beside the figure with the times of single messages.
    Watched,
    /// The same in a few rounds: a sample takes long or differs little from the next.
    Few,
    /// As few in the quick profile; three in the full one, as in the suite that it is made after.
    Thrice,
    /// As few, each from a program that is started for it and ended after it. Its resident memory
    /// is read from outside, before and after.
    Afresh,
    /// As few, each from a server that the program starts for it, by the one client of all. How long
    /// single messages waited stands beside the figure.
    Served,
    /// In every round, from two nodes, of which the contender is the near one. How long single trips took
    /// stands beside the figure.
    Paired,
}

impl Manner {
    /// Whether it takes the programs that all contenders meet, beside the contender's own.
    #[must_use]
    pub fn meets(self) -> bool {
        matches!(self, Self::Served | Self::Paired)
    }

    /// The rounds of an experiment in a run of so many.
    #[must_use]
    pub fn rounds(self, of: usize, profile: Profile) -> usize {
        match (self, profile) {
            (Self::Usual | Self::Watched | Self::Paired, _) => of,
            (Self::Thrice, Profile::Full) => of.min(3),
            (Self::Few | Self::Thrice | Self::Afresh | Self::Served, _) => of.min(FEWEST),
        }
    }
}

/// One experiment.
#[derive(Debug)]
pub struct Experiment {
    /// The name it is asked for by.
    pub id: &'static str,
    /// Its name in the report.
    pub title: &'static str,
    /// One line: what is done.
    pub what: &'static str,
    /// What was published, and what is done otherwise here.
    pub notes: &'static [&'static str],
    /// The principal metric.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its direction.
    pub better: Better,
    /// The swept value, if any.
    pub x: Option<Axis>,
    /// What is plotted.
    pub y: Quantity,
    /// How samples become figures.
    pub figure: Figure,
    /// Whether a contender may run it in several variants.
    pub variants: bool,
    /// How its samples are taken.
    pub manner: Manner,
    /// What is sampled.
    pub points: fn(Profile) -> Vec<Point>,
    /// Whether what was sent was received.
    pub check: fn(&Params, &Reply) -> Result<(), Void>,
}

/// Every experiment, in the order in which they are run.
pub static ALL: [&Experiment; 34] = [
    &calls::CALL_VS_SEND,
    &calls::TAIL_CALL,
    &spawning::SPAWN_CHAIN,
    &exchange::EXCHANGE,
    &exchange::MESSAGE_SIZE,
    &exchange::BANDWIDTH,
    &spawning::SERIAL_SPAWN,
    &flow::PING_PONG,
    &flow::THROUGHPUT,
    &flow::FAN_IN,
    &flow::FAN_OUT,
    &flow::THREAD_RING,
    &asking::CALL,
    &asking::CALL_DEEP,
    &asking::SELECTIVE,
    &trees::FORK_JOIN,
    &trees::SKYNET,
    &waiting::TIMERS,
    &waiting::IDLE_MEMORY,
    &hog::HOG,
    &exits::MONITOR_CHURN,
    &exits::LINK_CHURN,
    &exits::EXIT_CASCADE,
    &exits::RESTART,
    &signals::SIGNALS,
    &acks::REQUEST_REPLY,
    &acks::THROTTLE,
    &acks::HEAD_REST,
    &acks::SYNC_ACK,
    &acks::ASYNC_ACK,
    &acks::BEST,
    &acks::SYNC_OR_ASYNC,
    &nodes::DIST_SEND,
    &nodes::DIST_ROUND_TRIP,
];

/// The experiments of these names in the order of [`ALL`]; all of them if none is named.
///
/// # Errors
///
/// The first name that is unknown, with the names there are.
pub fn select(names: &[String]) -> Result<Vec<&'static Experiment>, Problem> {
    for name in names {
        if !ALL.iter().any(|known| known.id == name) {
            let known: Vec<_> = ALL.iter().map(|known| known.id).collect();
            return Err(Problem::new(format!(
                "there is no experiment {name:?}; there are {} (see `purlin lab list`)",
                known.join(", ")
            )));
        }
    }
    let wanted =
        |known: &&&Experiment| names.is_empty() || names.iter().any(|name| name == known.id);
    Ok(ALL.iter().filter(wanted).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_refused_with_the_names_there_are() {
        let refused = select(&["ping-pong".into(), "pong".into()]).unwrap_err();
        assert!(refused.to_string().contains("\"pong\""));
        assert!(refused.to_string().contains("thread-ring"));
    }

    #[test]
    fn names_are_run_in_the_order_of_the_list_and_once() {
        let names = ["skynet", "ping-pong", "skynet"].map(String::from);
        let ids: Vec<_> = select(&names).unwrap().iter().map(|one| one.id).collect();
        assert_eq!(ids, ["ping-pong", "skynet"]);
    }

    #[test]
    fn every_principal_x_is_one_of_the_points_in_both_profiles() {
        for profile in [Profile::Quick, Profile::Full] {
            for experiment in ALL {
                let (Figure::PerOperation(Some(x)) | Figure::Rate(Some(x))) = experiment.figure
                else {
                    continue;
                };
                let points = (experiment.points)(profile);
                let found = points.iter().filter(|point| point.x == Some(x)).count();
                assert_eq!(found, 1, "{} {profile:?}", experiment.id);
            }
        }
    }

    #[test]
    fn a_sweep_takes_no_longer_than_one_sample_in_all() {
        // What servers do every 5 ms would be most of what is timed in shorter ones.
        let divided = |one: &&&Experiment| one.x.is_some() && one.manner != Manner::Served;
        for experiment in ALL.iter().filter(divided) {
            let points = (experiment.points)(Profile::Quick);
            let share: f64 =
                points.iter().filter_map(|point| point.scaled).map(|scaled| scaled.share).sum();
            assert!(share < 1.001, "{}", experiment.id);
        }
    }
}
