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
use crate::output::{print, problem};
use crate::shutdown::shutdown_signal;
use crate::values::positive;

const HELP: &str = "\
Examples:
  purlin demo
      runs until Ctrl-C and prints the address of its page
  purlin demo --for 60 --port 0
      runs for a minute, with its page on a free port

The demo is one application on one node:
  readings   an ack server on a free port of this machine, and a client with a moderate load
  pool       four workers under a supervisor; one of them crashes every few seconds
  hog        computes without awaiting for 2 of every 15 seconds
  quarrel    two processes that call each other at the same time, every 30 seconds
  archive    stops receiving for 12 of every 32 seconds

Exit status:
  0  stopped by a signal, or the time is over
  2  the demo cannot start, for example because the port is in use";

/// Guide to the views, printed at the start.
const VIEWS: &str = "\
Views:
  Overview     the load of each worker; the hog occupies one for 2 of every 15 seconds
  Processes    sorted by mailbox: that of archive grows for 12 of every 32 seconds
  Supervision  a worker of the pool crashes every 8 seconds and is restarted
  Ack server   its load varies
  Warnings     the hog, the mailbox, and after 30 seconds billing and stock, which call
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

/// Runs the demo until SIGTERM, Ctrl-C or the end of its time. Returns the exit status.
pub(crate) fn demo(options: &Demo) -> Result<u8, Problem> {
    let page = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    // WHY exit is allowed: the token is printed on this terminal only, and the demo is for trying
    // everything.
    let observer = Observer::at(page).allow_exit(true).silent();
    let node = Node::builder().name("demo").observer(observer.clone()).build();
    let node = node.map_err(|error| unstarted(&error, options.port))?;
    let (on, time) = (node.clone(), options.time.map(Duration::from_secs_f64));
    let ended = node.block_on(async move |_: Process<()>| live(&on, &observer, time).await);
    node.stop_blocking();
    ended.map(|()| 0)
}

/// Describes why the node failed to start.
fn unstarted(error: &BuildError, port: u16) -> Problem {
    match error {
        BuildError::Io(error) if error.kind() == io::ErrorKind::AddrInUse => Problem::new(format!(
            "port {port} is in use: choose another for the page with --port, or 0 for a free one"
        )),
        error => problem(error),
    }
}

async fn live(node: &Node, observer: &Observer, time: Option<Duration>) -> Result<(), Problem> {
    let end = shutdown_signal()?;
    let (application, readings) = tree::application()?;
    observer.show_server("readings", &readings);
    let application = node.start_application(application).await.map_err(problem)?;
    let url = observer.url().unwrap_or_default();
    print(&format!(
        "the demo runs; open\n\n  {url}\n\n{VIEWS}or, in another terminal:\n  purlin observe \
         '{url}'\nCtrl-C stops it\n"
    ))?;
    let over = async {
        match time {
            Some(time) => tokio::time::sleep(time).await,
            None => pending().await,
        }
    };
    tokio::select! {
        () = end => {}
        () = over => {}
    }
    application.stop().await;
    Ok(())
}
