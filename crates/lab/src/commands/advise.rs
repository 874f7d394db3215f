//! `purlin lab advise`: estimates what a design costs on each measured runtime.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;

use crate::advice::{self, Design, markdown, text};
use crate::error::Problem;
use crate::store::{PARENT, RESULTS};
use crate::stored::{read_figures, results_file};
use crate::values::rate;

const HELP: &str = "\
Examples:
  purlin lab advise --rate 10000 --size 100 --hops 3
      10000 messages per second of 100 elements each, sent three times each
  purlin lab advise --rate 10000 --spawns 500 --markdown lab-results/20261121T090000Z
      with 500 spawned processes per second, from your own run, as a Markdown table

How to read it:
  Rate, hops and size are multiplied by the cost of a message and of an element, which are
  fitted to a run; the share of a core has a 95 % interval. In bulk is the share if
  messages arrive in a stream. Costs that the model omits are printed below.

Exit status:
  0  the estimate is printed
  2  there is no run, or it does not contain the cost of a message";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct AdviseOptions {
    /// Set the number of messages that enter per second
    #[arg(long, value_name = "MSGS_PER_S", allow_negative_numbers = true, value_parser = rate)]
    rate: f64,

    /// Set the message size in elements, small integers in a list
    #[arg(long, value_name = "ELEMENTS", default_value = "0", allow_negative_numbers = true)]
    size: u64,

    /// Set how many times each message is sent on its way
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    hops: u32,

    /// Set the number of processes spawned per second
    #[arg(long, value_name = "PER_S", default_value = "0", allow_negative_numbers = true, value_parser = rate)]
    spawns: f64,

    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown
    #[arg(long)]
    markdown: bool,

    /// Use this run's results or folder [default: the newest in lab-results]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
}

/// Returns the rendered estimate.
pub(super) fn advise(options: &AdviseOptions) -> Result<String, Problem> {
    let file = match &options.path {
        Some(path) => results_file(path),
        None => newest(Path::new(PARENT))?,
    };
    let name = file.display().to_string();
    let &AdviseOptions { rate, size, hops, spawns, .. } = options;
    let design = Design { rate, size, hops, spawns };
    let advice = advice::advise(design, &name, &read_figures(&file)?);
    if advice.costs.is_empty() {
        let why = advice.left_out.first().map_or("it has no figures", |line| line);
        return Err(Problem::new(format!(
            "{name} does not show what a message costs ({why}); make a run with \
             `purlin lab run -e exchange,message-size,message-moved,throughput,spawn-chain`"
        )));
    }
    Ok(match (options.json, options.markdown) {
        (true, _) => format!("{:#}\n", serde_json::json!(advice)),
        (_, true) => markdown(&advice),
        _ => text(&advice),
    })
}

/// Returns the most recently modified results file in this folder of runs.
fn newest(parent: &Path) -> Result<PathBuf, Problem> {
    let runs = fs::read_dir(parent).into_iter().flatten().flatten();
    let results = runs.map(|run| run.path().join(RESULTS)).filter_map(|file| {
        let written: SystemTime = fs::metadata(&file).and_then(|about| about.modified()).ok()?;
        Some((written, file))
    });
    results.max().map(|(_, file)| file).ok_or_else(|| {
        Problem::new(format!(
            "there is no run in {}; make one with `purlin lab run`, or name its results",
            parent.display()
        ))
    })
}
