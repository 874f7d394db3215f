//! The application: who is started, in which order, by which supervisor.
//!
//! Whoever needs another is started after it. What fails on purpose has a supervisor of its own, which
//! expects as much, so that nothing of it spreads.

use std::time::Duration;

use purlin::application::ApplicationSpec;
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin_ack::server::Door;
use purlin_lab::error::Problem;

use super::{archive, hog, pool, quarrel, readings};

/// How long it has to stop: longer than the hog computes.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The application, and the server that listens for readings in it.
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

/// What goes wrong without ending anybody.
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
