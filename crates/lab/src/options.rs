//! Options of `purlin lab run`; those that decide what is measured are stored in the plan of the run.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::profile::Profile;
use crate::values::{count, positive, seed};

const HELP: &str = "\
Examples:
  purlin lab run
      every experiment on every contender that can run here, quick profile
  purlin lab run -e spawn-chain,ping-pong -c purlin,beam --json out.json
      two experiments on two contenders; results also in out.json
  purlin lab run -c purlin,'beam:+sbwt none'
      options for a runtime, after a colon
  purlin lab run -c tokio -c 'mine=python3 mine.py'
      your own program that implements the contender protocol;
      docs/lab/own-runtime.md has one in twenty lines of Python
  purlin lab run --resume lab-results/20261121T090000Z
      resume a run that was interrupted or killed, on the same machine

Exit status:
  0    every experiment has results
  1    a contender failed or samples are invalid; all other results are kept
  2    invalid arguments, or the run is not possible on this machine
  130  interrupted; the samples are kept, and --resume continues the run

Environment:
  PURLIN_CONTENDERS  folder of the contenders written in Rust, such as
                     contender-tokio [default: the folder of this program]";

#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[command(after_help = HELP)]
pub(crate) struct RunOptions {
    /// Run these experiments, separated by commas [default: all]
    #[arg(short, long = "experiments", value_name = "ID,…", value_delimiter = ',')]
    pub(crate) experiments: Vec<String>,

    /// Run these contenders: ID or ID:OPTIONS, separated by commas, or NAME=COMMAND, which takes
    /// the rest of the argument [default: all that can run on this machine]
    #[arg(short, long = "contenders", value_name = "ID,…")]
    #[serde(skip)]
    pub(crate) contenders: Vec<String>,

    /// Choose the thoroughness: about 40 ms per sample, or the published counts
    #[arg(long, value_name = "PROFILE", default_value = "quick", value_enum)]
    pub(crate) profile: Profile,

    /// Repeat the sample order of an earlier run
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,

    /// Write samples, results and page to this folder, overwriting existing ones [default:
    /// lab-results/TIME, in UTC]
    #[arg(long)]
    #[serde(skip)]
    pub(crate) dir: Option<PathBuf>,

    /// Continue the interrupted run in this folder with its options
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiments", "contenders", "profile", "seed", "dir", "samples", "sample_ms", "limit", "fresh"])]
    #[serde(skip)]
    pub(crate) resume: Option<PathBuf>,

    /// Also write the results to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Take this many samples per point [default: 11 quick, 15 full]
    #[arg(long, value_name = "N", help_heading = "Advanced", allow_negative_numbers = true, value_parser = count)]
    pub(crate) samples: Option<u32>,

    /// Work this many milliseconds per sample, where that is not fixed [default: 40 quick, 1000
    /// full]
    #[arg(long, value_name = "MS", help_heading = "Advanced", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) sample_ms: Option<f64>,

    /// Limit the time of a contender's answer in seconds [default: 60 quick, 600 full]
    #[arg(long, value_name = "SECONDS", help_heading = "Advanced", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) limit: Option<f64>,

    /// Use a fresh process per contender and round, so that what is constant in one process, such
    /// as the layout of code and data, varies between rounds
    #[arg(long, help_heading = "Advanced")]
    pub(crate) fresh: bool,
}
