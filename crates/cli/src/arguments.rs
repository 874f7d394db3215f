//! Command-line arguments, and their conversion to options of the lab.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use purlin_lab::commands::{CompareOptions, ReportOptions, ResumeOptions, RunOptions, With};
use purlin_lab::profile::Profile;

use crate::ack::Ack;
use crate::advise::Advise;
use crate::cluster::{Call, Node};
use crate::demo::Demo;
use crate::export::Export;
use crate::observe::Observe;
use crate::time::Time;
use crate::values::{count, one_of, percent, positive, seed};

/// Erlang-style processes as a native runtime, and a lab that measures them
#[derive(Debug, Parser)]
#[command(name = "purlin", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure the cost of processes and messages on several runtimes
    Lab {
        #[command(subcommand)]
        command: Lab,
    },
    /// Serve or send millions of acknowledged small messages over TCP
    Ack {
        #[command(subcommand)]
        command: Ack,
    },
    /// Join an Erlang cluster as a node
    Node(Node),
    /// Call a function on an Erlang or purlin node and print its value
    Call(Call),
    /// Run a demo system with a live dashboard
    Demo(Demo),
    /// Watch a running node in this terminal
    Observe(Observe),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// List the experiments and the contenders, and which of them can run on this machine
    List,
    /// Run experiments on contenders and write a report page
    Run(Run),
    /// Write the report page from stored results, or from the output of OTP's benchmark
    Report(Report),
    /// List the metrics that changed beyond their noise between two runs
    Compare(Compare),
    /// Estimate the share of a core that a design costs on each measured runtime
    Advise(Advise),
    /// Convert stored results to JSON, CSV, Markdown or OTP's text
    Export(Export),
    /// Time a command over many runs
    Time(Time),
}

const RUN_HELP: &str = "\
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

#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct Run {
    /// Run these experiments, separated by commas [default: all]
    #[arg(short, long = "experiments", value_name = "ID,…", value_delimiter = ',')]
    experiments: Vec<String>,

    /// Run these contenders: ID or ID:OPTIONS, separated by commas, or NAME=COMMAND, which takes
    /// the rest of the argument [default: all that can run on this machine]
    #[arg(short, long = "contenders", value_name = "ID,…")]
    contenders: Vec<String>,

    /// Choose the thoroughness: about 100 ms per sample, or the published counts
    #[arg(long, value_name = "PROFILE", default_value = "quick", value_parser = one_of([("quick", Profile::Quick), ("full", Profile::Full)]))]
    profile: Profile,

    /// Repeat the sample order of an earlier run
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    seed: Option<u64>,

    /// Write samples, results and page to this folder, overwriting existing ones [default:
    /// lab-results/TIME, in UTC]
    #[arg(long)]
    dir: Option<PathBuf>,

    /// Continue the interrupted run in this folder with its options
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiments", "contenders", "profile", "seed", "dir", "samples", "sample_ms", "limit", "fresh"])]
    resume: Option<PathBuf>,

    /// Also write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Take this many samples per point [default: 11 quick, 15 full]
    #[arg(long, value_name = "N", help_heading = "Advanced", allow_negative_numbers = true, value_parser = count)]
    samples: Option<u32>,

    /// Work this many milliseconds per sample, where that is not fixed [default: 100 quick, 1000
    /// full]
    #[arg(long, value_name = "MS", help_heading = "Advanced", allow_negative_numbers = true, value_parser = positive)]
    sample_ms: Option<f64>,

    /// Limit the time of a contender's answer in seconds [default: 60 quick, 600 full]
    #[arg(long, value_name = "SECONDS", help_heading = "Advanced", allow_negative_numbers = true, value_parser = positive)]
    limit: Option<f64>,

    /// Use a fresh process per contender and round, so that what is constant in one process, such
    /// as the layout of code and data, varies between rounds
    #[arg(long, help_heading = "Advanced")]
    fresh: bool,
}

const REPORT_HELP: &str = "\
Examples:
  purlin lab report lab-results/20261121T090000Z
      the page of a run, next to its results
  purlin lab report old/results.json new/results.json --html both.html
      two runs on one page
  purlin lab report lab-results/20261121T090000Z parallel_messages.txt
      a run and the output of OTP's parallel_messages_SUITE, in the same graphs

Exit status:
  0  the page is written; its path is printed
  2  a file cannot be read or has no results, or the page cannot be written";

#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct Report {
    /// Results (results.json), OTP's text, or folders of runs
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write the page to this file [default: next to the results of a single run; ./report.html for
    /// several]
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

const COMPARE_HELP: &str = "\
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
#[command(after_help = COMPARE_HELP)]
pub(crate) struct Compare {
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
}

impl Run {
    /// Returns the options of the run to resume, if `--resume` is given.
    pub(crate) fn resumed(&self) -> Option<ResumeOptions> {
        let folder = self.resume.clone()?;
        Some(ResumeOptions { folder, json: self.json.clone() })
    }
}

impl From<Run> for RunOptions {
    fn from(options: Run) -> Self {
        Self {
            experiments: options.experiments.iter().map(|id| id.trim().to_owned()).collect(),
            contenders: options.contenders,
            profile: options.profile,
            seed: options.seed,
            dir: options.dir,
            json: options.json,
            samples: options.samples.map(|count| count as usize),
            sample_ms: options.sample_ms,
            limit: options.limit.map(Duration::from_secs_f64),
            fresh: options.fresh,
        }
    }
}

impl From<Report> for ReportOptions {
    fn from(options: Report) -> Self {
        Self { paths: options.paths, html: options.html }
    }
}

impl From<Compare> for CompareOptions {
    fn from(options: Compare) -> Self {
        let Compare { old, new, contenders, fail_above, all, markdown } = options;
        let with = match (new, contenders) {
            (_, Some(names)) => With::Within(names),
            (new, None) => With::Run(new.unwrap_or_default()),
        };
        Self { old, with, fail_above, all, markdown }
    }
}

/// Parses two labels separated by a comma.
fn two_contenders(text: &str) -> Result<[String; 2], String> {
    let two = text.split_once(',');
    let two = two.filter(|(old, new)| !old.is_empty() && !new.is_empty() && old != new);
    two.map(|(old, new)| [old, new].map(str::to_owned))
        .ok_or_else(|| "give two contenders of the run, such as old,new".into())
}
