//! `purlin lab compare`: reports which figures changed between two stored runs.

use std::path::{Path, PathBuf};

use clap::Args;

use super::output::{print, print_error};
use crate::comparison::{
    Comparison, compare as compare_runs, compare_within, json, markdown, sides, text,
};
use crate::error::Problem;
use crate::stored::{Figures, read_figures, results_file};
use crate::values::percent;

const HELP: &str = "\
Examples:
  purlin lab compare before.json after.json
      the primary metrics of two runs, files as `purlin lab run --json` writes them
  purlin lab compare lab-results/20261121T090000Z lab-results/20261121T100000Z --all
      every metric, of two folders of runs
  purlin lab compare main.json pull-request.json --fail-above 5 --markdown > comment.md
      a table for a pull request; status 1 if a primary metric got more than 5 % worse
  purlin lab run -c old=target/old/contender-purlin -c new=target/new/contender-purlin --json both.json
  purlin lab compare both.json -c old,new
      two builds in one run, round by round: detects smaller changes than two runs

How to read it:
  times worse   ratio of the new median to the old one with its 95 % interval; above 1 is
                worse, whether a higher or a lower value is better
  slower, ...   the metric changed beyond its noise, by 2 % or more; at most about one in
                twenty of the changes in a table is due to chance
  --fail-above  applies to primary metrics that are listed as slower or worse, and to the
                whole interval: with 5, its lower end must lie above 1.05

Exit status:
  0  compared
  1  a primary metric got worse by more than --fail-above
  2  a file cannot be read or has another schema, or the runs have no metric in common";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct CompareOptions {
    /// The earlier run: its results or its folder
    old: PathBuf,

    /// The later run
    #[arg(required_unless_present = "contenders", conflicts_with = "contenders")]
    new: Option<PathBuf>,

    /// Compare two contenders of one run, round by round: drift affects both alike
    #[arg(short, long, value_name = "OLD,NEW", value_parser = two_contenders)]
    contenders: Option<[String; 2]>,

    /// Exit with status 1 if a primary metric got worse by more than this, beyond its noise
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = percent)]
    fail_above: Option<f64>,

    /// Compare every metric, not only the primary ones
    #[arg(long)]
    all: bool,

    /// Print a Markdown table for a pull request
    #[arg(long)]
    markdown: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
}

/// Compares two runs, or two contenders of one, and prints the comparison. Returns the exit status.
pub(super) fn compare(options: &CompareOptions) -> Result<u8, Problem> {
    let old = read(&options.old)?;
    let name = options.old.display().to_string();
    let Some(names) = &options.contenders else {
        let path = options.new.as_deref().unwrap_or(Path::new(""));
        let (new, other) = (read(path)?, path.display().to_string());
        let compared =
            compare_runs((&name, &old), (&other, &new), options.all).ok_or_else(|| {
                Problem::new(format!(
                    "{name} and {other} have no figure in common; compare runs of the same \
                 experiments, contenders and profile"
                ))
            })?;
        return print_result(&compared, options);
    };
    let sides = sides(&old, [&names[0], &names[1]]).map_err(|missing| {
        let mut there: Vec<_> = old.results.iter().map(|one| &*one.contender).collect();
        there.sort_unstable();
        there.dedup();
        let there = there.join(", ");
        Problem::new(format!("{name} has no figures of {missing:?}; it has those of {there}"))
    })?;
    let compared = compare_within(&name, &sides, options.all).ok_or_else(|| {
        let [old, new] = names;
        Problem::new(format!(
            "{old} and {new} have no figure in common in {name}; compare contenders that run the \
             same experiments"
        ))
    })?;
    print_result(&compared, options)
}

/// Prints a comparison and applies the regression threshold. Returns the exit status.
fn print_result(compared: &Comparison<'_>, options: &CompareOptions) -> Result<u8, Problem> {
    print(&match (options.json, options.markdown) {
        (true, _) => json(compared),
        (_, true) => markdown(compared),
        _ => text(compared),
    })?;
    let Some(percent) = options.fail_above else { return Ok(0) };
    let worse = compared.beyond(percent);
    let worse: Vec<_> =
        worse.map(|one| format!("{} {}", one.new.experiment, one.new.contender)).collect();
    if worse.is_empty() {
        return Ok(0);
    }
    let failure = Problem::new(format!("worse by more than {percent} %: {}", worse.join(", ")));
    print_error(&format!("purlin: {failure}"));
    Ok(1)
}

fn read(path: &Path) -> Result<Figures, Problem> {
    read_figures(&results_file(path))
}

/// Parses two labels separated by a comma.
fn two_contenders(text: &str) -> Result<[String; 2], String> {
    let two = text.split_once(',');
    let two = two.filter(|(old, new)| !old.is_empty() && !new.is_empty() && old != new);
    two.map(|(old, new)| [old, new].map(str::to_owned))
        .ok_or_else(|| "give two contenders of the run, such as old,new".into())
}
