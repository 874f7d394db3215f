//! Arguments of `purlin demo`, and its node.

use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use purlin::{BuildError, Node, Process};
use purlin_lab::error::Problem;
use purlin_observer::{Observed, Observer};

use super::tree;
use crate::ending::asked_to_end;
use crate::output::{print, problem};
use crate::values::positive;

const HELP: &str = "\
Examples:
  purlin demo
      until Ctrl-C; the address of its page is printed
  purlin demo --for 60 --port 0
      for a minute, with its page on any port that is free

It is one application on one node:
  readings   an ack server on a free port of this machine, and a client that loads it gently
  pool       four workers under a supervisor; one of them crashes every few seconds
  hog        computes for two seconds of every fifteen, without awaiting
  quarrel    two processes that call each other at the same time, every half a minute
  archive    does not look at its mailbox for a while, every half a minute

Exit status:
  0  it was asked to end, or the time is over
  2  it cannot be started, as when the port is taken; one line says why";

/// Guide to the views, printed at the start.
const VIEWS: &str = "\
What to look at:
  Overview     the load of each worker; a hog takes one for two seconds of every fifteen
  Processes    sorted by mailbox: that of archive grows for twelve seconds of every 32
  Supervision  a worker of the pool crashes every eight seconds, and another takes its place
  Ack server   its load comes and goes
  Warnings     the hog, the mailbox, and after thirty seconds billing and stock, which call
               each other at the same time
";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Demo {
    /// Serve the page on this port of this machine only; 0 chooses a free port
    #[arg(long, value_name = "PORT", default_value_t = 4480)]
    port: u16,

    /// Stop after this many seconds
    #[arg(long = "for", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    time: Option<f64>,
}

/// Runs the demo until it is asked to end or its time is over. Returns the exit status.
pub(crate) fn demo(asked: &Demo) -> Result<u8, Problem> {
    let page = SocketAddr::from((Ipv4Addr::LOCALHOST, asked.port));
    // WHY exit is allowed: the token is printed on this terminal only, and the demo is for trying
    // everything.
    let observer = Observer::at(page).allow_exit(true).silent();
    let node = Node::builder().name("demo").observer(observer.clone()).build();
    let node = node.map_err(|error| unstarted(&error, asked.port))?;
    let (on, time) = (node.clone(), asked.time.map(Duration::from_secs_f64));
    let ended = node.block_on(async move |_: Process<()>| live(&on, &observer, time).await);
    node.stop_blocking();
    ended.map(|()| 0)
}

/// Describes why the node failed to start.
fn unstarted(error: &BuildError, port: u16) -> Problem {
    match error {
        BuildError::Io(error) if error.kind() == io::ErrorKind::AddrInUse => Problem::new(format!(
            "port {port} is taken: choose another for the page with --port, or 0 for any that is free"
        )),
        error => problem(error),
    }
}

async fn live(node: &Node, observer: &Observer, time: Option<Duration>) -> Result<(), Problem> {
    let end = asked_to_end()?;
    let (application, readings) = tree::application()?;
    observer.show_server("readings", &readings);
    let application = node.start_application(application).await.map_err(problem)?;
    let url = observer.url().unwrap_or_default();
    print(&format!(
        "a small living system runs; see it at\n\n  {url}\n\n{VIEWS}or, in another terminal:\n  purlin observe \
         '{url}'\nCtrl-C ends it\n"
    ))?;
    tokio::select! {
        () = end => {}
        () = over(time) => {}
    }
    application.stop().await;
    Ok(())
}

/// Completes when the time is over; never completes without one.
async fn over(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => pending().await,
    }
}
