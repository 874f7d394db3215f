//! Text report of a load. Pure.

use std::fmt;

use super::plan::Plan;
use super::summary::{Spread, Summary};
use crate::wire::session::Level;

/// Width of the longest histogram bar in characters.
const WIDEST: f64 = 40.0;
/// Upper end of the first histogram bucket in nanoseconds; each further bucket ends at twice that.
const FIRST: u64 = 1000;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan_line(f)?;
        writeln!(f, "\n")?;
        if let Some(Spread { median, low, high }) = self.per_second() {
            let rounds = match self.rounds.len() {
                1 => "1 round".to_owned(),
                many => format!("median of {many} rounds, {} to {}", short(low), short(high)),
            };
            writeln!(f, "messages per second  {:<9} {rounds}", short(median))?;
        }
        let answered = &self.answered;
        writeln!(
            f,
            "answered             {} messages by {} answers, each where it was due",
            answered.messages, answered.answers
        )?;
        if answered.refused > 0 {
            writeln!(f, "refused              {} of them", answered.refused)?;
        }
        if !self.latency.is_empty() {
            self.histogram(f)?;
        }
        Ok(())
    }
}

impl Summary {
    /// Writes the plan in one line.
    fn plan_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { strategy, address, connections, rounds, messages, size, batch, .. } = &self.plan;
        write!(f, "{strategy} at {address}: {rounds} × {messages} messages of {size} bytes")?;
        match connections {
            1 => write!(f, " on one connection")?,
            many => write!(f, " on each of {many} connections")?,
        }
        write!(f, ", {batch} in a write")?;
        match self.plan.window {
            Some(window) => write!(f, ", {window} unanswered at most")?,
            None => write!(f, ", no window")?,
        }
        if self.plan.tls.is_some() {
            write!(f, ", over TLS")?;
        }
        if self.plan.nodelay {
            write!(f, ", TCP_NODELAY")?;
        }
        if let Some(level) = self.plan.level {
            write!(f, ", in a session, acks mean {}", level_name(level))?;
        }
        Ok(())
    }

    fn histogram(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let latency = &self.latency;
        write!(f, "from write to answer")?;
        for (name, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)] {
            write!(f, " {name} {},", time(latency.value_at_quantile(quantile)))?;
        }
        writeln!(f, " at most {}\n", time(latency.max()))?;
        let steps: Vec<_> = latency
            .iter_log(FIRST, 2.0)
            .map(|step| (step.value_iterated_to(), step.count_since_last_iteration()))
            .skip_while(|(_, count)| *count == 0)
            .collect();
        let most = steps.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
        for (upto, count) in steps {
            let bar = (count as f64 / most as f64 * WIDEST).ceil() as usize;
            let share = count as f64 / latency.len() as f64 * 100.0;
            let line = format!("  up to {:>8} {share:>5.1} % {}", time(upto + 1), "#".repeat(bar));
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns the level as written on the command line.
pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Received => "received",
        Level::Handled => "handled",
        Level::Durable => "durable",
    }
}

/// Formats a number with three digits and an SI suffix.
///
/// ```
/// assert_eq!(purlin_ack::load::short(2_345_678.0), "2.35 M");
/// ```
#[must_use]
pub fn short(number: f64) -> String {
    match number {
        _ if number >= 1e9 => format!("{} G", three(number / 1e9)),
        _ if number >= 1e6 => format!("{} M", three(number / 1e6)),
        _ if number >= 1e3 => format!("{} k", three(number / 1e3)),
        _ => three(number),
    }
}

/// Formats a duration with three digits and its unit.
fn time(nanos: u64) -> String {
    match nanos as f64 {
        long if long >= 1e9 => format!("{} s", three(long / 1e9)),
        long if long >= 1e6 => format!("{} ms", three(long / 1e6)),
        long if long >= 1e3 => format!("{} µs", three(long / 1e3)),
        short => format!("{short} ns"),
    }
}

fn three(number: f64) -> String {
    match number {
        _ if number >= 99.95 => format!("{number:.0}"),
        _ if number >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hdrhistogram::Histogram;

    use super::*;
    use crate::load::{Answered, Round};
    use crate::strategy::Strategy;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        let counts = [999.0, 1000.0, 17_234.0, 2_345_678.0, 99_960_000.0, 150e6, 1.5e9].map(short);
        assert_eq!(counts, ["999", "1.00 k", "17.2 k", "2.35 M", "100 M", "150 M", "1.50 G"]);
        let times = [1, 999, 1000, 58_300, 1_200_000, 3_600_000_000_000].map(time);
        assert_eq!(times, ["1 ns", "999 ns", "1.00 µs", "58.3 µs", "1.20 ms", "3600 s"]);
    }

    #[test]
    fn a_summary_is_a_plan_figures_and_a_histogram() {
        let mut latency = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        latency.record_n(1500, 3).unwrap();
        latency.record_n(5000, 1).unwrap();
        let round = |millis| Round { messages: 1000, time: Duration::from_millis(millis) };
        let summary = Summary {
            plan: Plan { rounds: 3, messages: 1000, ..Plan::classic(Strategy::HeadRest) },
            rounds: vec![round(2), round(1), round(4)],
            answered: Answered { messages: 3000, refused: 0, answers: 60 },
            latency,
            failure: None,
        };
        let due = "\
head-rest at 127.0.0.1:8003: 3 × 1000 messages of 5 bytes on one connection, 50 in a write, no window, TCP_NODELAY

messages per second  500 k     median of 3 rounds, 250 k to 1.00 M
answered             3000 messages by 60 answers, each where it was due
from write to answer p50 1.50 µs, p90 5.00 µs, p99 5.00 µs, p99.9 5.00 µs, at most 5.00 µs

  up to  2.00 µs  75.0 % ########################################
  up to  4.00 µs   0.0 %
  up to  8.00 µs  25.0 % ##############
";
        assert_eq!(summary.to_string(), due);
    }
}
