//! Frame and draft of a result: what all figures of a lane have in common.

use super::schema::ResultEntry;
use crate::contender::Reply;
use crate::experiments::{Better, Experiment, Params};
use crate::sampling::{Lane, Taken};
use crate::stats;

/// Common context of the figures of a lane.
pub(super) struct Frame<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) lane: &'a Lane,
}

/// The samples of a figure: one value per valid round, ascending by round.
pub(super) type Samples = Vec<(usize, f64)>;

/// A figure without its interval.
pub(super) struct Draft<'a> {
    pub(super) metric: &'a str,
    pub(super) unit: &'a str,
    pub(super) better: Better,
    pub(super) params: Params,
    pub(super) x: Option<u64>,
    pub(super) samples: Samples,
    pub(super) primary: bool,
}

impl Frame<'_> {
    /// Returns a draft at one point in the experiment's own metric; it is not the primary metric.
    pub(super) fn draft(&self, point: &Taken, samples: Samples) -> Draft<'_> {
        Draft {
            metric: self.experiment.metric,
            unit: self.experiment.unit,
            better: self.experiment.better,
            params: point.params.clone(),
            x: point.x,
            samples,
            primary: false,
        }
    }

    /// Returns results for which less is better, each from a metric, its unit, the point it belongs
    /// to and its samples; the first is the primary metric.
    pub(super) fn costs<'p>(
        &self,
        drafts: impl IntoIterator<Item = (&'static str, &'static str, &'p Taken, Samples)>,
    ) -> Vec<ResultEntry> {
        let result = |(index, (metric, unit, point, samples)): (usize, (_, _, &Taken, _))| {
            let primary = index == 0;
            let better = Better::Lower;
            self.result(Draft { metric, unit, better, primary, ..self.draft(point, samples) })
        };
        drafts.into_iter().enumerate().filter_map(result).collect()
    }

    /// Returns a result of these samples; `None` for no samples.
    pub(super) fn result(&self, draft: Draft<'_>) -> Option<ResultEntry> {
        let stored = draft.samples.into_iter().map(|(round, sample)| (round, rounded(sample)));
        let (rounds, samples): (Vec<usize>, Vec<f64>) = stored.unzip();
        let interval = stats::median_interval(&samples)?;
        Some(ResultEntry {
            experiment: self.experiment.id.into(),
            contender: self.lane.label.clone(),
            variant: self.lane.variant.clone(),
            graph: None,
            params: draft.params,
            x: draft.x,
            metric: draft.metric.into(),
            unit: draft.unit.into(),
            better: draft.better.word().into(),
            rounds,
            samples,
            median: interval.value,
            low: interval.low,
            high: interval.high,
            fit: None,
            primary: draft.primary && self.lane.natural,
        })
    }

    /// Returns a result at one point in the experiment's own metric.
    pub(super) fn at(
        &self,
        point: &Taken,
        primary: bool,
        figure: impl Fn(&Reply) -> f64,
    ) -> Option<ResultEntry> {
        let value = |(round, reply): &(usize, Reply)| (*round, figure(reply));
        let samples = finite(point.replies.iter().map(value));
        self.result(Draft { primary, ..self.draft(point, samples) })
    }
}

/// Returns an additional field of each answer that has it, in a unit of `size`.
pub(super) fn field(point: &Taken, name: &str, size: f64) -> Samples {
    let value = |(round, reply): &(usize, Reply)| Some((*round, reply.extra(name)? as f64 / size));
    point.replies.iter().filter_map(value).collect()
}

/// Returns the time of one repetition, in ns.
pub(super) fn per_repetition(point: &Taken, reply: &Reply) -> f64 {
    reply.elapsed_ns as f64 / number(&point.params, "reps").max(1) as f64
}

/// Returns a numeric parameter; 0 if it is absent or not a number.
pub(super) fn number(params: &Params, name: &str) -> u64 {
    params.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

/// Rounds to six significant digits: the rest is noise, and most of the size of a stored run.
fn rounded(sample: f64) -> f64 {
    // WHY by text: the result is the number closest to its decimal digits, and is stored in six.
    format!("{sample:.5e}").parse().unwrap_or(sample)
}

/// Drops values that JSON cannot represent.
pub(super) fn finite(values: impl Iterator<Item = (usize, f64)>) -> Samples {
    values.filter(|(_, value)| value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn samples_keep_six_significant_digits() {
        for (sample, due) in [
            (0.0, "0.0"),
            (12.345_678_9, "12.3457"),
            (-0.001_234_567_8, "-0.00123457"),
            (987_654_321.0, "987654000.0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(format!("{:?}", rounded(sample)), due);
        }
    }
}
