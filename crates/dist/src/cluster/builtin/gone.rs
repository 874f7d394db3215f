//! When whoever looks is gone. A process that sends to it until it is told to stop has to know.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::{Down, Process};
use purlin_term::Pid;
use tokio::sync::oneshot::{Receiver, channel};

use crate::cluster::core::Core;

/// Closed when a process elsewhere has ended, or its node is gone; at once if it cannot be watched.
///
/// COST: a process that monitors it, until the channel is dropped.
pub(in crate::cluster) fn gone(core: &Arc<Core>, whom: &Pid) -> Receiver<Infallible> {
    let (mut told, lives) = channel();
    let Some(whom) = core.stand_in(whom) else { return lives };
    let watches = async move |mut me: Process<Down>| {
        me.monitor(&whom);
        tokio::select! {
            _ = me.receive() => {}
            () = told.closed() => {}
        }
    };
    // If there is no room for it nobody is told, and the channel is closed.
    let _ = core.ids.node.try_spawn(watches);
    lives
}
