//! Agent of a connection: the local process that monitors local processes on behalf of remote ones.

use std::convert::Infallible;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use purlin::remote::{RemoteSignal, Transport, with_sender};
use purlin::{ExitReason, ProcessId};
use purlin_dist_protocol::control::Control;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::links::monitor_table::RemoteMonitor;
use crate::cluster::reason;

/// State of an agent. WHY weak: the agent must not keep the connection alive.
struct Agent(Weak<Connection>, Weak<Core>);

impl Connection {
    /// Spawns the agent. If that fails, [`Connection::linked`] closes the connection.
    pub(crate) fn start_agent(self: &Arc<Self>, core: &Arc<Core>) {
        let agent = Agent(Arc::downgrade(self), Arc::downgrade(core));
        if let Ok(agent) = core.ids.node.spawn_agent(agent) {
            let _ = self.agent.set(agent);
        }
    }
}

/// Closes the connection if the node stops first: the remote watchers then receive `noconnection`.
impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(connection) = self.0.upgrade() {
            connection.close();
        }
    }
}

impl Transport<Infallible> for Agent {
    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        if self.0.upgrade().is_none_or(|connection| connection.is_lost()) {
            Poll::Ready(ExitReason::Normal)
        } else {
            Poll::Pending
        }
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn message(&mut self, never: Infallible) {
        match never {}
    }

    fn signal(&mut self, from: Option<ProcessId>, signal: RemoteSignal) {
        let (Some(connection), Some(core)) = (self.0.upgrade(), self.1.upgrade()) else { return };
        let (monitor, why) = match signal {
            RemoteSignal::Down(monitor, why) => (monitor, why),
            // A peer that guesses the pid of the agent is answered as by a process that has ended.
            RemoteSignal::Link => {
                return answer(
                    &connection,
                    &core,
                    from,
                    RemoteSignal::LinkExit(ExitReason::NoProcess),
                );
            }
            RemoteSignal::Unlink(id) => {
                return answer(&connection, &core, from, RemoteSignal::UnlinkAck(id));
            }
            _ => return,
        };
        let fires = connection.monitor_table().remove_theirs(monitor);
        let Some((ours, theirs)) = fires else { return };
        let RemoteMonitor { watcher, reference, watched } = theirs;
        let (flags, why) = (connection.flags(), reason::to_term(&why));
        let down = Control::down(flags, watched, watcher.clone(), reference, why);
        // WHY: after the messages of the process that has ended (M2).
        with_sender(ours.id(), || core.send_after_pending(&connection, &watcher, None, down));
    }
}

/// Answers a signal of a proxy.
fn answer(connection: &Connection, core: &Core, proxy: Option<ProcessId>, signal: RemoteSignal) {
    if let (Some(agent), Some(proxy)) = (connection.agent.get(), proxy) {
        core.ids.node.deliver(agent, proxy, signal);
    }
}
