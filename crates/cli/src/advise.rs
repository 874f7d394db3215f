//! Arguments of `purlin lab advise`.

use std::path::PathBuf;

use clap::Args;
use purlin_lab::advice::Design;
use purlin_lab::commands::{AdviseOptions, Shape};

use crate::values::rate;

const HELP: &str = "\
Examples:
  purlin lab advise --rate 10000 --size 100 --hops 3
      ten thousand messages a second, of a hundred elements each, through three sends
  purlin lab advise --rate 10000 --spawns 500 --markdown lab-results/20261121T090000Z
      with five hundred processes a second, by a run of yours, as a table for a document

How to read it:
  Rate, hops and size are multiplied by what the fits of a run say that a message and an
  element cost; the share of a core comes with its 95 % interval. In bulk is what it could
  be if messages came in a stream. What the model leaves out is printed below.

Exit status:
  0  answered
  2  there is no run, or it does not tell what a message costs";

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
    fn from(asked: Advise) -> Self {
        let Advise { rate, size, hops, spawns, json, markdown, path } = asked;
        let shape = match (json, markdown) {
            (true, _) => Shape::Json,
            (_, true) => Shape::Markdown,
            _ => Shape::Text,
        };
        Self { design: Design { rate, size, hops, spawns }, path, shape }
    }
}
