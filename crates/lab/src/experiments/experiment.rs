//! An experiment: its texts, parameters, sampling mode, figure and validity check.

use serde_json::{Map, Value};

use crate::contender::Reply;
use crate::profile::{FEWEST, Profile};

/// The parameters of one request, as they are sent.
pub type Params = Map<String, Value>;

/// Reason why a sample is invalid; one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);

/// Direction in which a figure improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Lower is better: a time.
    Lower,
    /// Higher is better: a rate.
    Higher,
}

impl Better {
    /// Returns the word used in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }
}

/// The axis of the swept parameter.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// The swept parameter.
    pub param: &'static str,
    /// The axis label.
    pub label: &'static str,
    /// `linear` or `log`.
    pub scale: &'static str,
}

/// The plotted quantity.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// The axis label.
    pub label: &'static str,
    /// The unit of the stored figures.
    pub unit: &'static str,
}

/// A parameter that calibration sets for each contender.
#[derive(Debug, Clone, Copy)]
pub struct Scaled {
    /// The parameter's name.
    pub param: &'static str,
    /// The value of the first calibration run.
    pub start: u64,
    /// The maximum value.
    pub cap: u64,
    /// The share of a sample's duration that this point takes.
    pub share: f64,
    /// Whether n is calibrated by the recorded steps of `call-vs-send`.
    pub stepped: bool,
}

/// One set of parameters that is sampled.
#[derive(Debug, Clone)]
pub struct Point {
    /// The swept value; `None` if the experiment has no sweep.
    pub x: Option<u64>,
    /// The parameters; the calibrated one is added once its value is known.
    pub params: Params,
    /// The calibrated parameter, if any.
    pub scaled: Option<Scaled>,
}

/// How the primary metric is computed from samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Time per operation in ns; in a sweep, that at this x.
    PerOperation(Option<u64>),
    /// Total time in ms.
    Whole,
    /// Operations per second; in a sweep, those at this x.
    Rate(Option<u64>),
    /// Slope of time against x in ns, divided by this parameter if given.
    Slope(Option<&'static str>),
    /// List elements per second; those at this x are the primary metric.
    Elements(u64),
    /// Time per remote operation minus that of a local one, in ns.
    Above,
    /// Time per operation at the last point divided by that at the first. The names are those of the
    /// times at all points.
    Over(&'static [&'static str]),
    /// Total time divided by that of the computing alone on all cores, at this x.
    OverPerfect(u64),
    /// 99th percentile of the round trips of the open loop in µs.
    Trips,
    /// Time per expiry of timers that are due at the same time, in ns.
    Expiries,
    /// Time per operation in µs.
    Micros,
    /// Resident memory per operation in bytes.
    Footprint,
    /// Throughput of `signals`, computed in two ways.
    Signals,
    /// Operations per second at each point, in one graph per number of cores and connections.
    SyncOrAsync,
}

/// Sampling mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplingMode {
    /// In every round, from the running program.
    Usual,
    /// Like `Usual`, from a program that has run no other experiment. The peak resident memory of a sample is read from
    /// outside and stored next to the figure, with the latency of single messages.
    Watched,
    /// Like `Usual`, in few rounds: samples take long or vary little.
    Few,
    /// Like `Few`, each sample in a fresh process that ends after it. Its resident memory is read from outside, before
    /// and after.
    FreshProcess,
    /// Like `Few`, each sample from a server that the contender starts for it; the load client sends. The latency of
    /// single messages is stored next to the figure.
    Served,
    /// In every round, from two nodes, of which the contender is the near one. The latency of single round trips is
    /// stored next to the figure.
    Paired,
}

impl SamplingMode {
    /// Returns whether the mode needs the load client, which serves all contenders, in addition to the contender.
    pub fn needs_load_client(self) -> bool {
        matches!(self, Self::Served | Self::Paired)
    }

    /// Returns the number of rounds of an experiment, in a run of `of` rounds.
    pub fn rounds(self, of: usize) -> usize {
        match self {
            Self::Usual | Self::Watched | Self::Paired => of,
            Self::Few | Self::FreshProcess | Self::Served => of.min(FEWEST),
        }
    }
}

/// An experiment.
#[derive(Debug)]
pub struct Experiment {
    /// The id users select it by.
    pub id: &'static str,
    /// The title in the report.
    pub title: &'static str,
    /// One line that describes the measurement.
    pub what: &'static str,
    /// Published results, and differences from the published method.
    pub notes: &'static [&'static str],
    /// The name of the primary metric.
    pub metric: &'static str,
    /// The unit of the primary metric.
    pub unit: &'static str,
    /// The direction of the primary metric.
    pub better: Better,
    /// The axis of the swept parameter, if any.
    pub x: Option<Axis>,
    /// The plotted quantity; `None` if it is the primary metric.
    pub y: Option<Quantity>,
    /// How figures are computed from samples.
    pub figure: Figure,
    /// Whether a contender may run it in several variants.
    pub variants: bool,
    /// The sampling mode.
    pub mode: SamplingMode,
    /// The sampled points.
    pub points: fn(Profile) -> Vec<Point>,
    /// The validity check, by conservation of messages and processes.
    pub check: fn(&Params, &Reply) -> Result<(), Invalid>,
}

impl Experiment {
    /// Returns the plotted quantity.
    pub fn quantity(&self) -> Quantity {
        self.y.unwrap_or(Quantity { label: self.metric, unit: self.unit })
    }
}
