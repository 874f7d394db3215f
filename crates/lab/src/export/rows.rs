//! Exports every sample as a CSV row (RFC 4180). Pure.

use serde_json::Value;

use crate::error::Problem;
use crate::results::Figures;

/// Column names; a stable interface for other programs.
const COLUMNS: [&str; 13] = [
    "experiment",
    "contender",
    "variant",
    "graph",
    "x",
    "params",
    "metric",
    "unit",
    "better",
    "principal",
    "round",
    "value",
    "version",
];

/// Returns one row per sample of each figure, after a header row.
///
/// `round` is the number of the round, from 1; it is empty if the file does not say. The same round
/// of two contenders was taken at about the same time. Numbers keep all digits of the results.
///
/// Fails if a row cannot be encoded.
///
/// COST: all samples in memory as text, with all names on each row.
pub(crate) fn csv(figures: &Figures) -> Result<String, Problem> {
    let refused = |error: &dyn std::fmt::Display| {
        Problem::new(format!("the results cannot be written as CSV: {error}; choose JSON"))
    };
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(COLUMNS).map_err(|error| refused(&error))?;
    for result in &figures.results {
        let x = result.x.map(|x| x.to_string()).unwrap_or_default();
        let params = Value::from(result.params.clone()).to_string();
        let mut contenders = figures.contenders.iter();
        let version = contenders.find(|one| one.id == result.contender);
        let version = version.map(|one| one.version.as_str()).unwrap_or_default();
        for (index, value) in result.samples.iter().enumerate() {
            let row = [
                result.experiment.as_str(),
                &result.contender,
                result.variant.as_deref().unwrap_or_default(),
                result.graph.as_deref().unwrap_or_default(),
                &x,
                &params,
                &result.metric,
                &result.unit,
                &result.better,
                if result.primary { "true" } else { "false" },
                &result.rounds.get(index).map(usize::to_string).unwrap_or_default(),
                &value.to_string(),
                version,
            ];
            rows.write_record(row).map_err(|error| refused(&error))?;
        }
    }
    let bytes = rows.into_inner().map_err(|error| refused(&error))?;
    String::from_utf8(bytes).map_err(|error| refused(&error))
}
