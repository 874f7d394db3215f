//! Arguments of `purlin lab advise`.

use std::path::PathBuf;

use clap::Args;
use purlin_lab::advice::Design;
use purlin_lab::commands::{AdviseOptions, Shape};

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
pub(crate) struct Advise {
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

impl From<Advise> for AdviseOptions {
    fn from(options: Advise) -> Self {
        let Advise { rate, size, hops, spawns, json, markdown, path } = options;
        let shape = match (json, markdown) {
            (true, _) => Shape::Json,
            (_, true) => Shape::Markdown,
            _ => Shape::Text,
        };
        Self { design: Design { rate, size, hops, spawns }, path, shape }
    }
}
