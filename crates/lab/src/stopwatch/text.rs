//! Renders the timing of a command for a terminal. Pure.

use std::fmt::Write;

use super::Report;
use crate::profile::FEWEST;

/// Duration below which the start of the program dominates, in seconds.
const SHORT: f64 = 0.005;

/// Returns a few lines: the command, its figures in one unit, warnings.
pub(crate) fn text(report: &Report) -> String {
    let in_unit = in_unit_of(report.mean);
    let count = report.times.len();
    let plural = if count == 1 { "" } else { "s" };
    let mut text = format!("{}\n", report.command);
    let spread = report.stddev.map_or_else(String::new, |spread| format!(" ± {}", in_unit(spread)));
    let (least, most) = (in_unit(report.min), in_unit(report.max));
    // WHY: writing to a `String` cannot fail.
    let _ = writeln!(text, "  mean    {}{spread}   of {count} run{plural}", in_unit(report.mean));
    let (low, high) = (in_unit(report.low), in_unit(report.high));
    let interval = if count < FEWEST { "range" } else { "95 % interval" };
    let _ = writeln!(text, "  median  {}   {interval} {low} … {high}", in_unit(report.median));
    let _ = writeln!(text, "  range   {least} … {most}");
    if let (Some(user), Some(system)) = (report.user, report.system) {
        let _ = writeln!(text, "  cpu     user {}, system {}", in_unit(user), in_unit(system));
    }
    for warning in warnings(report) {
        let _ = writeln!(text, "warning: {warning}");
    }
    if report.interrupted {
        text.push_str("interrupted; these are the runs that came to their end\n");
    }
    text
}

/// Returns the reasons to doubt the figures, each with advice.
fn warnings(report: &Report) -> Vec<String> {
    let (runs, failed) = (report.times.len(), report.failed());
    let slow = report.outliers.contains(&0) && report.times.first() == Some(&report.max);
    let outliers = report.outliers.len() - usize::from(slow);
    let all = [
        (runs == 1).then(|| {
            format!("one run shows no spread; give -n {FEWEST} or more")
        }),
        (1 < runs && runs < FEWEST).then(|| {
            format!("{runs} runs are too few for a 95 % interval, so it is their range; give -n {FEWEST} or more")
        }),
        slow.then(|| {
            "the first run took longest and is an outlier, as with cold caches; try --warmup 1".into()
        }),
        (outliers > 0).then(|| {
            format!("{outliers} of {runs} runs are outliers (they count all the same); see that the machine does nothing else")
        }),
        (report.median < SHORT).then(|| {
            "that is little more than it takes to start a program; have it do its work many times in a run".into()
        }),
        (failed == 1).then(|| "one run failed; run it by itself to see why".into()),
        (failed > 1).then(|| {
            format!("{failed} runs failed; run the command by itself to see why")
        }),
    ];
    all.into_iter().flatten().collect()
}

/// Returns a formatter that prints all figures of a report in the unit of its mean.
fn in_unit_of(seconds: f64) -> impl Fn(f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let fits = |&&(size, _): &&(f64, &str)| seconds >= size;
    let (size, name) = units.iter().find(fits).copied().unwrap_or((1e-6, "µs"));
    // WHY: four digits of the mean; smaller figures get the same number of decimals.
    let after = match seconds / size {
        of if of >= 100.0 => 1,
        of if of >= 10.0 => 2,
        _ => 3,
    };
    move |value| format!("{:.after$} {name}", value / size)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::host::Host;
    use crate::stopwatch::Run;

    fn host() -> Host {
        serde_json::from_str(
            r#"{"os":"","kernel":"","cpu":"","cores":2,"memory_bytes":1,"load_before":0,"virtual":null}"#,
        )
        .unwrap()
    }

    fn report(milliseconds: &[u64]) -> Report {
        let cpu = Some([Duration::from_millis(2), Duration::from_millis(1)]);
        let run = |&time: &u64| (Duration::from_millis(time), Run { cpu, status: Some(0) });
        let runs: Vec<_> = milliseconds.iter().map(run).collect();
        Report::new(&["a program".into(), "x".into()], &runs, 0, host()).unwrap()
    }

    #[test]
    fn all_figures_are_in_the_unit_of_the_mean() {
        let expected = "\
'a program' x
  mean    31.00 ms ± 0.89 ms   of 6 runs
  median  31.00 ms   95 % interval 30.00 ms … 32.00 ms
  range   30.00 ms … 32.00 ms
  cpu     user 2.00 ms, system 1.00 ms
";
        assert_eq!(text(&report(&[31, 30, 32, 30, 32, 31])), expected);
    }

    #[test]
    fn warnings_include_advice() {
        for (milliseconds, expected) in [
            (&[30][..], "one run shows no spread; give -n 6"),
            (&[90, 30, 31, 29, 32, 30], "the first run took longest and is an outlier"),
            (&[31, 30, 90, 29, 32, 30], "1 of 6 runs are outliers"),
            (&[1, 1, 2, 1, 2, 2], "that is little more than it takes to start a program"),
        ] {
            let text = text(&report(milliseconds));
            assert_eq!(text.matches("warning: ").count(), 1, "{text}");
            assert!(text.contains(&format!("warning: {expected}")), "{text}");
        }
    }

    #[test]
    fn no_runs_give_no_report() {
        assert!(Report::new(&["true".into()], &[], 0, host()).is_none());
    }
}
