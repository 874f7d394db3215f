//! Application: a supervision tree that runs until Ctrl-C or SIGTERM.

mod clock;
mod counter;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use purlin::application::{self, ApplicationSpec};
use purlin::server;
use purlin::supervisor::{ChildSpec, SupervisorSpec};

use counter::Counter;

#[purlin::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let application = ApplicationSpec::new(env!("CARGO_PKG_NAME"), tree())
        .shutdown(Duration::from_secs(10))
        .prep_stop(async || tracing::info!("stopping"));
    application::run(application).await
}

/// Returns the supervision tree. A child is started after those it depends on and stopped before them; if one crashes,
/// it and those after it are restarted.
fn tree() -> SupervisorSpec {
    SupervisorSpec::rest_for_one()
        .child(ChildSpec::server("counter", |me| {
            server::start_link::<Counter>(me, Counter::default()).name("counter")
        }))
        .child(ChildSpec::worker("clock", clock::clock))
}
