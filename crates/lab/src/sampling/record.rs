//! Record of one answer or failure, and the observer that stores records.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Problem;
use crate::experiments::Params;

/// A record of one answer or failure, as it is stored.
#[derive(Debug, Clone, Serialize)]
pub struct Record<'a> {
    /// `sample`; before the rounds, `warm-up` or `step`.
    pub kind: &'static str,
    /// The experiment's id.
    pub experiment: &'a str,
    /// The contender's label.
    pub contender: &'a str,
    /// The round, from 1; absent for calibration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<usize>,
    /// Position in the order of the round, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// Whether the program was started for this sample, or for its round.
    #[serde(rename = "afresh")]
    pub fresh_process: bool,
    /// Time from request to answer as measured by the lab, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// Processor time the hypervisor gave to other guests during the sample, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen_ms: Option<u64>,
    /// The parameters of the request.
    pub params: &'a Params,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<&'a Map<String, Value>>,
    /// Why the sample is invalid.
    #[serde(rename = "void", skip_serializing_if = "Option::is_none")]
    pub invalid: Option<&'a str>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'a str>,
}

/// Observer of the sampling.
pub trait Watch {
    /// Stores one record.
    ///
    /// Fails if the record cannot be stored; the run ends then.
    fn record(&mut self, record: &Record<'_>) -> Result<(), Problem>;

    /// Prints a message.
    fn print(&mut self, line: &str);

    /// Reports the number of completed rounds of this experiment.
    fn round(&mut self, done: usize, of: usize);
}
