//! The application: supervision tree and start order.
//!
//! A process is started after those it depends on. Processes that fail on purpose have a separate supervisor with a
//! sufficient intensity, so that failures do not spread.

use std::time::Duration;

use purlin::application::ApplicationSpec;
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin_ack::server::Door;
use purlin_lab::error::Problem;

use super::{archive, hog, pool, quarrel, readings};

/// Shutdown timeout: longer than the hog computes.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// Returns the application, and the server that listens for its readings.
pub(super) fn application() -> Result<(ApplicationSpec, Door), Problem> {
    let (server, door) = readings::server()?;
    let address = door.local_addr();
    let tree = SupervisorSpec::one_for_one()
        .name("demo")
        .child(ChildSpec::supervisor("pool", pool::workers()))
        .child(ChildSpec::worker("clerk", pool::clerk))
        .child(ChildSpec::supervisor("readings", server))
        .child(ChildSpec::worker("meter", move |me| readings::meter(me, address)))
        .child(ChildSpec::supervisor("trouble", trouble()));
    Ok((ApplicationSpec::new("demo", tree).shutdown(SHUTDOWN), door))
}

/// Returns the supervisor of processes with problems, none of which ends a process.
fn trouble() -> SupervisorSpec {
    SupervisorSpec::one_for_one()
        .name("trouble")
        .child(ChildSpec::worker("hog", hog::hog))
        .child(ChildSpec::worker("billing", |me| quarrel::department(me, "billing", "stock")))
        .child(ChildSpec::worker("stock", |me| quarrel::department(me, "stock", "billing")))
        .child(ChildSpec::worker("auditor", quarrel::auditor))
        .child(ChildSpec::worker("archive", archive::archive))
        .child(ChildSpec::worker("press", archive::press))
}
