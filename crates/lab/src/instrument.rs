//! The measuring instrument: clock resolution, clock overhead and request overhead.
//!
//! Contenders time their samples with the clock of their runtime, which usually is this one. No
//! sample includes a request, but a sample that takes hardly longer than its request comes from a
//! program that has just woken up.

use purlin_timing::Clock;
use serde::Serialize;

use crate::format::{short, tenths, wrap};
use crate::sampling::Lane;
use crate::stats;
use crate::warning::Warning;

/// Maximum percentage of a sample that two clock readings may take.
const CLOCK: f64 = 1.0;

/// Maximum overhead of a request, in percent of its sample.
const REQUEST: f64 = 10.0;

/// The instrument, as it is stored.
#[derive(Debug, Clone, Serialize)]
pub struct Instrument {
    /// Clock resolution in ns: the greatest common divisor of the differences between readings.
    pub clock_resolution_ns: f64,
    /// Duration of one clock reading, in ns.
    pub clock_cost_ns: f64,
    /// The largest request overhead of all contenders.
    pub request_overhead_us: Option<f64>,
    /// Request overhead by contender.
    pub requests: Vec<Overhead>,
    /// The sample with the shortest duration.
    pub smallest_sample: Option<Smallest>,
}

/// Request overhead of a contender.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overhead {
    /// The contender's label.
    pub contender: String,
    /// Median time from request to answer, in µs.
    pub overhead_us: f64,
}

/// The shortest sample, on which the instrument has the largest effect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Smallest {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's label.
    pub contender: String,
    /// Duration of the sample, in µs.
    pub elapsed_us: f64,
}

impl Instrument {
    /// Measures the clock of this machine; the first call takes about 1 ms.
    pub fn measure() -> Self {
        let clock = Clock::look();
        Self {
            clock_resolution_ns: clock.resolution.as_nanos() as f64,
            clock_cost_ns: tenths(clock.cost_ns),
            request_overhead_us: None,
            requests: Vec::new(),
            smallest_sample: None,
        }
    }

    /// Records the round-trip times of requests to a contender, in ns.
    pub fn request(&mut self, contender: &str, times: &[f64]) {
        let Some(median) = stats::median(times) else { return };
        let overhead_us = tenths(median / 1000.0);
        self.requests.push(Overhead { contender: contender.to_owned(), overhead_us });
        self.request_overhead_us =
            self.requests.iter().map(|one| one.overhead_us).max_by(f64::total_cmp);
    }

    /// Updates the shortest sample with these samples.
    pub fn samples(&mut self, experiment: &str, lanes: &[Lane]) {
        for lane in lanes {
            let replies = lane.points.iter().flat_map(|point| &point.replies);
            let Some(least) = replies.map(|(_, reply)| reply.elapsed_ns).min() else { continue };
            let elapsed_us = least as f64 / 1000.0;
            if self.smallest_sample.as_ref().is_none_or(|known| elapsed_us < known.elapsed_us) {
                let (experiment, contender) = (experiment.to_owned(), lane.label.clone());
                self.smallest_sample = Some(Smallest { experiment, contender, elapsed_us });
            }
        }
    }

    /// Returns warnings if the instrument takes too large a share of the shortest sample.
    pub fn warnings(&self) -> Vec<Warning> {
        let Some(Smallest { experiment, contender, elapsed_us }) = &self.smallest_sample else {
            return Vec::new();
        };
        let clock_us = self.clock_resolution_ns.max(2.0 * self.clock_cost_ns) / 1000.0;
        let own = self.requests.iter().find(|one| one.contender == *contender);
        let shares = [
            ("two readings of the clock", clock_us, CLOCK),
            ("a request", own.map_or(0.0, |one| one.overhead_us), REQUEST),
        ];
        let shares = shares.map(|(what, us, most)| (what, 100.0 * us / elapsed_us, most));
        let large = shares.into_iter().filter(|(_, percent, most)| percent > most);
        large
            .map(|(what, percent, _)| {
                let message = format!(
                    "{what} is {percent:.0} % of the smallest sample ({} ms, {experiment}, {contender})",
                    short(elapsed_us / 1000.0)
                );
                Warning::new("instrument", message, "take longer samples: --sample-ms")
                    .about(experiment, Some(contender))
            })
            .collect()
    }

    /// Returns a one-sentence summary.
    pub fn line(&self) -> String {
        let mut line = format!(
            "clock: {} ns fine, {} ns to read",
            short(self.clock_resolution_ns),
            short(self.clock_cost_ns)
        );
        if let Some(us) = self.request_overhead_us {
            line.push_str(&format!("; a request: {} µs at most", short(us)));
        }
        if let Some(Smallest { experiment, contender, elapsed_us }) = &self.smallest_sample {
            let ms = short(elapsed_us / 1000.0);
            line.push_str(&format!("; smallest sample: {ms} ms ({experiment}, {contender})"));
        }
        let mut text = String::new();
        wrap(&mut text, "", &line);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sample_short_relative_to_the_overhead_is_warned_of() {
        let mut instrument = Instrument::measure();
        (instrument.clock_resolution_ns, instrument.clock_cost_ns) = (30.0, 25.0);
        instrument.request("a", &[80_000.0, 100_000.0, 300_000.0]);
        assert_eq!(instrument.request_overhead_us, Some(100.0));
        let warned = |elapsed_us| {
            let smallest =
                Smallest { experiment: "call".into(), contender: "a".into(), elapsed_us };
            Instrument { smallest_sample: Some(smallest), ..instrument.clone() }.warnings().len()
        };
        assert_eq!([warned(4.9), warned(900.0), warned(1100.0)], [2, 1, 0]);
        assert!(instrument.warnings().is_empty());
    }

    #[test]
    fn clock_of_this_machine_can_be_measured() {
        let own = Instrument::measure();
        assert!(own.clock_resolution_ns > 0.0 && own.clock_cost_ns > 0.0, "{own:?}");
        assert!(own.line().starts_with("clock: ") && own.line().ends_with(" ns to read\n"));
    }
}
