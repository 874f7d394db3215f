//! Stored results, schema 2. Field names are a stable file format that other programs read.
//!
//! Schema 1 has no [`rounds`](ResultEntry::rounds); [`stored`](crate::stored) reads both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::control::Control;
use crate::experiments::{Experiment, Params};
use crate::host::Host;
use crate::instrument::Instrument;
use crate::profile::Profile;
use crate::sampling::{InvalidSample, Step};
use crate::warning::Warning;

/// The version of the format that is written.
pub const SCHEMA: u32 = 2;

/// All data of one run.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    /// Schema version: [`SCHEMA`].
    pub schema: u32,
    /// The program that wrote the results.
    pub tool: Tool,
    /// Start time, RFC 3339 in UTC.
    pub started: String,
    /// Whether the run was interrupted; the figures are those of the completed part.
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// Duration in seconds, excluding interruptions.
    pub seconds: f64,
    /// Seed of the sample order.
    pub seed: u64,
    /// Whether every round started fresh programs.
    #[serde(skip_serializing_if = "is_false")]
    pub fresh: bool,
    /// The profile.
    pub profile: Profile,
    /// The machine.
    pub host: Host,
    /// Warnings about the validity of the figures.
    pub warnings: Vec<Warning>,
    /// The contenders.
    pub contenders: Vec<AboutContender>,
    /// The experiments.
    pub experiments: Vec<AboutExperiment>,
    /// The figures; exactly one per experiment and contender is the primary metric.
    pub results: Vec<ResultEntry>,
    /// Cost of measuring.
    pub instrument: Instrument,
    /// Comparisons of the primary metrics.
    pub ratios: Vec<Ratio>,
    /// Comparison of the contenders that run the same function.
    pub control: Option<Control>,
    /// The steps by which `call-vs-send` found its n.
    pub steps: Vec<Step>,
    /// The invalid samples.
    #[serde(rename = "void")]
    pub invalid: Vec<InvalidSample>,
    /// Contenders without a figure for an experiment, where that is not an error.
    pub absences: Vec<Absence>,
    /// Errors.
    pub problems: Vec<Trouble>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The program that wrote the results.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    /// The program's name, `purlin lab`.
    pub name: &'static str,
    /// The program's version.
    pub version: &'static str,
    /// Hash of the measured sources; `None` for a run that was not started in a checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
}

/// A contender as it described itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AboutContender {
    /// The name used in the results.
    pub id: String,
    /// The name shown to a reader.
    pub label: String,
    /// The version of the runtime under test.
    pub version: String,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Variants by experiment, the natural one first.
    pub variants: BTreeMap<String, Vec<String>>,
    /// Source file by experiment, relative to the repository; empty for a contender of the user's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
}

impl AboutContender {
    /// Returns the version without its details: the part before the first comma, such as
    /// `Erlang/OTP 27.3.4`.
    pub(crate) fn brief_version(&self) -> &str {
        self.version.split(',').next().unwrap_or_default()
    }
}

/// Description of an experiment.
#[derive(Debug, Clone, Serialize)]
pub struct AboutExperiment {
    /// The experiment's id.
    pub id: &'static str,
    /// The experiment's title.
    pub title: &'static str,
    /// Description of the measurement.
    pub what: &'static str,
    /// Published results, and differences from the published method.
    pub notes: Vec<&'static str>,
    /// The name of the primary metric.
    pub metric: &'static str,
    /// The unit of the primary metric.
    pub unit: &'static str,
    /// The direction of the primary metric: `lower` or `higher`.
    pub better: &'static str,
    /// The axis of the swept parameter, or null.
    pub x: Value,
    /// The plotted quantity; figures and fits are stored in its unit.
    pub y: Value,
}

impl From<&Experiment> for AboutExperiment {
    fn from(experiment: &Experiment) -> Self {
        let y = experiment.quantity();
        Self {
            id: experiment.id,
            title: experiment.title,
            what: experiment.what,
            notes: experiment.notes.to_vec(),
            metric: experiment.metric,
            unit: experiment.unit,
            better: experiment.better.word(),
            x: experiment.x.map_or(
                Value::Null,
                |axis| json!({"param": axis.param, "label": axis.label, "scale": axis.scale}),
            ),
            y: json!({"label": y.label, "unit": y.unit}),
        }
    }
}

/// The parts of a [`Document`] that comparisons and exports need.
#[derive(Debug, Clone, Deserialize)]
pub struct Figures {
    /// Start time.
    pub started: String,
    /// Whether the run was interrupted.
    #[serde(default)]
    pub interrupted: bool,
    /// `quick` or `full`.
    pub profile: String,
    /// The machine; `None` if unknown, as in OTP's text.
    pub host: Option<Host>,
    /// The contenders.
    pub contenders: Vec<AboutContender>,
    /// The figures, each with its samples.
    pub results: Vec<ResultEntry>,
}

/// A figure: one metric of one contender at one point.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ResultEntry {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's id.
    pub contender: String,
    /// The variant, if the contender has variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The graph the figure belongs to, if the experiment has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// The parameters of the request.
    pub params: Params,
    /// The swept value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<u64>,
    /// The metric's name.
    pub metric: String,
    /// The metric's unit.
    pub unit: String,
    /// `lower` or `higher`.
    pub better: String,
    /// The round of each sample, from 1 and ascending; an invalid round is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<usize>,
    /// One value per valid round.
    pub samples: Vec<f64>,
    /// The median of the samples.
    pub median: f64,
    /// Lower bound of the 95 % confidence interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
    /// The line of best fit, for the result of a sweep's line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// Whether this is the contender's primary metric in the experiment.
    #[serde(rename = "principal")]
    pub primary: bool,
}

impl ResultEntry {
    /// Returns the sample of a round, if it is valid.
    pub fn in_round(&self, round: usize) -> Option<f64> {
        self.samples.get(self.rounds.binary_search(&round).ok()?).copied()
    }

    /// Returns the point of the graph at which the figure was taken.
    pub fn point(&self) -> String {
        let variant = self.variant.iter().cloned();
        let x = self.x.map(|x| format!("at {x}"));
        let point: Vec<_> = variant.chain(x).collect();
        point.join(" ")
    }

    /// Like [`point`](Self::point), with the graph if the experiment has several.
    pub fn point_and_graph(&self) -> String {
        let graph = self.graph.iter().map(|graph| format!("in {graph}"));
        let words: Vec<_> = [self.point()].into_iter().chain(graph).collect();
        words.join(" ").trim_start().to_owned()
    }

    /// Returns the same figure at the same point in the contender's other variants.
    pub fn in_other_variants<'a>(&'a self, results: &'a [Self]) -> impl Iterator<Item = &'a Self> {
        results.iter().filter(|one| one.place() == self.place() && one.variant != self.variant)
    }

    /// Returns the identity of the figure without its variant. WHY not all parameters: a calibrated
    /// parameter differs between variants.
    fn place(&self) -> (&str, &str, &str, Option<&str>, Option<u64>) {
        (&self.experiment, &self.contender, &self.metric, self.graph.as_deref(), self.x)
    }
}

/// The line of best fit against x, in the unit of the points: the medians of the rounds' lines.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Fit {
    /// The slope.
    pub slope: f64,
    /// Lower bound of its 95 % confidence interval.
    pub slope_low: f64,
    /// Upper bound of the interval.
    pub slope_high: f64,
    /// The value at x = 0.
    pub intercept: f64,
    /// Lower bound of its 95 % confidence interval.
    pub intercept_low: f64,
    /// Upper bound of the interval.
    pub intercept_high: f64,
    /// The coefficient of determination.
    pub r2: f64,
}

/// How many times worse one contender is than the reference.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    /// The experiment's id.
    pub experiment: String,
    /// The contender.
    pub contender: String,
    /// The contender's variant, if it is not the natural one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The reference; above 1 the reference is better.
    pub against: String,
    /// The median of the rounds' ratios.
    pub ratio: f64,
    /// Lower bound of the 95 % confidence interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
    /// The number of rounds that both have.
    pub rounds: usize,
    /// Whether the contenders differ beyond their noise.
    pub verdict: Verdict,
}

impl Ratio {
    /// Returns whether this ratio compares the given result.
    pub fn is_of(&self, result: &ResultEntry) -> bool {
        let variant = result.variant.as_ref().filter(|_| !result.primary);
        (&self.experiment, &self.contender, self.variant.as_ref())
            == (&result.experiment, &result.contender, variant)
    }
}

/// Result of comparing two sets of samples: two contenders, or the same contender in two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Significantly better.
    Better,
    /// Significantly worse.
    Worse,
    /// The difference may be noise.
    Indistinguishable,
}

impl Verdict {
    pub(crate) const INDISTINGUISHABLE: &'static str = "indistinguishable";
}

/// A contender without a figure for an experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Absence {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's label.
    pub contender: String,
    /// `starves` or `not offered`.
    pub word: String,
    /// A short explanation that follows the contender's name.
    pub message: String,
}

/// An error during the run.
#[derive(Debug, Clone, Serialize)]
pub struct Trouble {
    /// The experiment's id, or null if the error concerns the whole run.
    pub experiment: Option<String>,
    /// The contender's label.
    pub contender: String,
    /// Description of the error; one line.
    pub message: String,
}
