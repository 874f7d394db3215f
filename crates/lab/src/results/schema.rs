//! The stored results, schema 1: the names are those of the file, for others rely on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::experiments::{Experiment, Params};
use crate::host::Host;
use crate::instrument::Instrument;
use crate::sampling::{Step, VoidSample};
use crate::warning::StoredWarning;

/// Everything about one run.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    /// 1.
    pub schema: u32,
    /// What wrote it.
    pub tool: Tool,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Whether it was stopped before its end; these are the figures of what was complete.
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// How long it took, interruptions left out.
    pub seconds: f64,
    /// What repeats its order.
    pub seed: u64,
    /// Whether each round had programs of its own.
    #[serde(skip_serializing_if = "is_false")]
    pub fresh: bool,
    /// `quick` or `full`.
    pub profile: String,
    /// The machine.
    pub host: Host,
    /// What a reader must know before believing the figures.
    pub warnings: Vec<StoredWarning>,
    /// Who was measured.
    pub contenders: Vec<AboutContender>,
    /// In what.
    pub experiments: Vec<AboutExperiment>,
    /// The figures; per experiment and contender exactly one is principal.
    pub results: Vec<ResultEntry>,
    /// What it was measured with.
    pub instrument: Instrument,
    /// The principal figures compared.
    pub ratios: Vec<Ratio>,
    /// The steps by which `call-vs-send` found its n.
    pub steps: Vec<Step>,
    /// The samples that count for nothing.
    pub void: Vec<VoidSample>,
    /// Who has no figure for an experiment, though nothing went wrong.
    pub absences: Vec<Absence>,
    /// What went wrong besides.
    pub problems: Vec<Trouble>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The program that wrote the results.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    /// `purlin lab`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// A contender as it presented itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AboutContender {
    /// The name the results use.
    pub id: String,
    /// The name a reader sees.
    pub label: String,
    /// The runtime's own version.
    pub version: String,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// By experiment, its variants, the natural one first.
    pub variants: BTreeMap<String, Vec<String>>,
}

/// An experiment for a reader.
#[derive(Debug, Clone, Serialize)]
pub struct AboutExperiment {
    /// Its name.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What is done.
    pub what: &'static str,
    /// What was published, and what is done otherwise here.
    pub notes: Vec<&'static str>,
    /// The principal metric.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// `lower` or `higher`.
    pub better: &'static str,
    /// The axis of the swept value, or null.
    pub x: Value,
    /// What is plotted; figures and lines are stored in this unit.
    pub y: Value,
}

impl From<&Experiment> for AboutExperiment {
    fn from(experiment: &Experiment) -> Self {
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
            y: json!({"label": experiment.y.label, "unit": experiment.y.unit}),
        }
    }
}

/// One figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultEntry {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's id.
    pub contender: String,
    /// The variant, where the contender has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The picture it belongs to, where an experiment draws several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// What was asked.
    pub params: Params,
    /// The swept value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<u64>,
    /// What the figure is.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// `lower` or `higher`.
    pub better: String,
    /// One value per round that counts.
    pub samples: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The line of best fit, of a sweep's line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// Whether this is the contender's figure for the experiment.
    pub principal: bool,
}

impl ResultEntry {
    /// Where in its picture the figure was taken.
    #[must_use]
    pub fn point(&self) -> String {
        let variant = self.variant.iter().cloned();
        let x = self.x.map(|x| format!("at {x}"));
        let point: Vec<_> = variant.chain(x).collect();
        point.join(" ")
    }

    /// The same with the picture, where an experiment draws several.
    #[must_use]
    pub fn point_and_graph(&self) -> String {
        let graph = self.graph.iter().map(|graph| format!("in {graph}"));
        let told: Vec<_> = [self.point()].into_iter().chain(graph).collect();
        told.join(" ").trim_start().to_owned()
    }

    /// The same figure at the same point in its contender's other variants.
    pub fn in_other_variants<'a>(&'a self, results: &'a [Self]) -> impl Iterator<Item = &'a Self> {
        results.iter().filter(|one| one.place() == self.place() && one.variant != self.variant)
    }

    /// Whose figure it is, and where it was taken. WHY not all parameters: what is set by time is
    /// another number for each variant.
    fn place(&self) -> (&str, &str, &str, Option<&str>, Option<u64>) {
        (&self.experiment, &self.contender, &self.metric, self.graph.as_deref(), self.x)
    }
}

/// A line of best fit through all samples, in the unit of the points against x.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Fit {
    /// Its slope.
    pub slope: f64,
    /// The lower end of its 95 % interval.
    pub slope_low: f64,
    /// The upper end.
    pub slope_high: f64,
    /// Where it meets x = 0.
    pub intercept: f64,
    /// The lower end of its 95 % interval.
    pub intercept_low: f64,
    /// The upper end.
    pub intercept_high: f64,
    /// The share of the variance that it explains.
    pub r2: f64,
}

/// How many times worse one contender is than another.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    /// The experiment's id.
    pub experiment: String,
    /// The contender.
    pub contender: String,
    /// Its variant, where that is not its natural one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The one it is compared with; above 1 this one is better.
    pub against: String,
    /// The ratio of the medians.
    pub ratio: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// What the interval says.
    pub verdict: Verdict,
}

impl Ratio {
    /// Whether it is this figure that is compared.
    #[must_use]
    pub fn is_of(&self, result: &ResultEntry) -> bool {
        let variant = result.variant.as_ref().filter(|_| !result.principal);
        (&self.experiment, &self.contender, self.variant.as_ref())
            == (&result.experiment, &result.contender, variant)
    }
}

/// What samples say of a figure against another: of a contender's against another's, or of a run's
/// against that of the run before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is better.
    Better,
    /// It is worse.
    Worse,
    /// What differs may be noise.
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
    /// The same in a few words more, to follow the contender's name.
    pub message: String,
}

/// Something that went wrong.
#[derive(Debug, Clone, Serialize)]
pub struct Trouble {
    /// The experiment's id, or null where it concerns the whole run.
    pub experiment: Option<String>,
    /// The contender's label.
    pub contender: String,
    /// What happened; one line.
    pub message: String,
}
