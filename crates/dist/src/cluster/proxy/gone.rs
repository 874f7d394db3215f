//! Notification when a remote client has ended, for processes that send to it until it
//! unsubscribes.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::{Down, Process, SpawnOptions};
use purlin_term::Pid;
use tokio::sync::oneshot::{Receiver, channel};

use crate::cluster::core::Core;

/// Returns a channel that closes when the remote process has ended or its node is disconnected;
/// immediately if it cannot be monitored.
///
/// COST: one process that monitors it, until the channel is dropped.
pub(crate) fn gone(core: &Arc<Core>, whom: &Pid) -> Receiver<Infallible> {
    let (mut sender, lives) = channel();
    let Some(whom) = core.proxy(whom) else { return lives };
    let watches = async move |mut me: Process<Down>| {
        me.monitor(&whom);
        tokio::select! {
            _ = me.receive() => {}
            () = sender.closed() => {}
        }
    };
    // If the process limit is reached, the sender is dropped, which closes the channel.
    let _ = SpawnOptions::new().spawn_on(&core.ids.node, watches);
    lives
}
