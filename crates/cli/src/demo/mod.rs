//! `purlin demo`: the words, and what they do.
//!
//! | file | role |
//! |---|---|
//! | `tree` | the application: who is started, in which order, by which supervisor |
//! | `readings` | an ack server, and a client that loads it gently |
//! | `pool` | workers, of which one crashes now and then, and who has work for them |
//! | `hog` | a process that computes without awaiting, now and then |
//! | `quarrel` | two processes that now and then call each other at the same time |
//! | `archive` | a process whose mailbox grows now and then |

mod archive;
mod hog;
mod pool;
mod quarrel;
mod readings;
mod tree;

use std::future::pending;
use std::time::Duration;

use clap::Args;
use purlin::{Node, Process};
use purlin_lab::error::Problem;

use crate::arguments::positive;
use crate::ending::asked_to_end;

/// What processes of the demo end with.
type Fallible = Result<(), Box<dyn std::error::Error + Send + Sync>>;

const HELP: &str = "\
Examples:
  purlin demo
      until Ctrl-C
  purlin demo --for 60
      for a minute

It is one application on one node:
  readings   an ack server on a free port of this machine, and a client that loads it gently
  pool       four workers under a supervisor; one of them crashes every few seconds
  hog        computes for two seconds of every fifteen, without awaiting
  quarrel    two processes that call each other at the same time, every half a minute
  archive    does not look at its mailbox for a while, every half a minute

Exit status:
  0  it was asked to end, or the time is over
  2  it cannot be started; one line says why";

/// What there is to see.
const TOLD: &str = "\
A small living system runs: an ack server under a gentle load, a pool of workers of which one
crashes now and then, a hog, two processes that sometimes call each other, and one whose
mailbox grows. Ctrl-C ends it.
";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Demo {
    /// End by itself after so many seconds
    #[arg(long = "for", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    time: Option<f64>,
}

/// Lets it live until it is asked to end or its time is over, and tells the exit status.
pub(crate) fn demo(asked: &Demo) -> Result<u8, Problem> {
    let node = Node::builder().name("demo").build().map_err(problem)?;
    let (on, time) = (node.clone(), asked.time.map(Duration::from_secs_f64));
    let ended = node.block_on(async move |_: Process<()>| live(&on, time).await);
    node.stop_blocking();
    ended.map(|()| 0)
}

async fn live(node: &Node, time: Option<Duration>) -> Result<(), Problem> {
    let end = asked_to_end()?;
    let application = node.start_application(tree::application()?).await.map_err(problem)?;
    crate::print(TOLD)?;
    tokio::select! {
        () = end => {}
        () = over(time) => {}
    }
    application.stop().await;
    Ok(())
}

/// When the time is over; never if there is none.
async fn over(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => pending().await,
    }
}

fn problem(error: impl ToString) -> Problem {
    Problem::new(error.to_string())
}
