//! Renders the timing of a command for a terminal. Pure.

use std::fmt::Write;

use super::{Report, Warning};
use crate::profile::FEWEST;

/// Returns a few lines: the command, its figures in one unit, warnings.
#[must_use]
pub fn text(report: &Report) -> String {
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
    for warning in Warning::of(report) {
        let _ = writeln!(text, "warning: {warning}");
    }
    if report.interrupted {
        text.push_str("interrupted; these are the runs that came to their end\n");
    }
    text
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
        let warnings = |milliseconds: &[u64]| Warning::of(&report(milliseconds));
        assert_eq!(warnings(&[30]), [Warning::Few(1)]);
        assert_eq!(warnings(&[90, 30, 31, 29, 32, 30]), [Warning::SlowStart]);
        assert_eq!(warnings(&[31, 30, 90, 29, 32, 30]), [Warning::Outliers(1, 6)]);
        assert_eq!(warnings(&[1, 1, 2, 1, 2, 2]), [Warning::Short]);
        let slow = text(&report(&[90, 30, 31, 29, 32, 30]));
        assert!(
            slow.contains("warning: the first run took longest") && slow.contains("--warmup 1")
        );
        let short = text(&report(&[1, 1, 2, 1, 2, 2]));
        assert!(short.contains("little more than it takes to start a program"), "{short}");
    }

    #[test]
    fn no_runs_give_no_report() {
        assert!(Report::new(&["true".into()], &[], 0, host()).is_none());
    }
}
