//! Future that waits for the end of a process, which may be remote.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::oneshot::{Sender, channel};

use super::LocalProcess;
use crate::node::context::with_context;
use crate::process::body::Body;
use crate::process::pid::ended;
use crate::process::shared::Parent;
use crate::process::spawn::try_spawn_on;
use crate::race::race;
use crate::signals::local_state::LocalState;
use crate::{Down, ExitReason, Pid, Process};

impl<M: Send + 'static> Pid<M> {
    /// Waits for the end of the process and returns the exit reason. By then all messages left in
    /// its mailbox have been dropped, or passed to [`Process::on_unread`](crate::Process::on_unread).
    ///
    /// A remote process is monitored: the reason is `noproc` if it has ended before, and
    /// `noconnection` if its node is not connected or the connection is lost. It is `system_limit` if
    /// this node is full, and that of this node's stop if it stops first.
    ///
    /// *Cancellation*: dropping the future changes nothing.
    ///
    /// COST: for a remote process, a process of this node that monitors it.
    pub async fn ended(&self) -> ExitReason {
        if self.address().shared().is_proxy() {
            // WHY: boxed, because it is rare and would make the future several times as large.
            return Box::pin(remote_ended(self)).await;
        }
        ended(self.address()).await
    }
}

/// Waits for the end of the process that a proxy stands for, or of the proxy.
///
/// COST: one process, which monitors the remote one until the future is dropped.
async fn remote_ended<M: Send + 'static>(proxy: &Pid<M>) -> ExitReason {
    let (sender, found) = channel();
    let (local, watched) = (LocalProcess::from(proxy), proxy.clone());
    // WHY in a turn of the proxy: the future may be awaited on a thread without a node.
    local.in_next_turn(move || {
        let make = |sender, owner| Body::new(move |me| watch(me, watched, sender), owner);
        let local = LocalState::default();
        with_context(|here| {
            let spawned = try_spawn_on(&here.node_core, Parent::NODE, local, (), sender, make);
            if let Err(error) = spawned {
                // The future may have been dropped.
                let _ = error.into_inner().send(ExitReason::SystemLimit);
            }
        });
    });
    let found = async {
        match found.await {
            Ok(reason) => reason,
            // The proxy has ended, or ends because its node stops.
            Err(_) => pending().await,
        }
    };
    let (mut proxy_ended, mut found) = (pin!(local.ended()), pin!(found));
    poll_fn(|cx| match proxy_ended.as_mut().poll(cx) {
        Poll::Pending => found.as_mut().poll(cx),
        ready => ready,
    })
    .await
}

/// The end of the monitored process.
///
/// WHY not `Down`: code that is generic in the message type is inlined if the program has one use of
/// it, and programs have processes that receive `Down`: 122 instead of 110 ns in `monitor-churn`.
struct Ended(ExitReason);

impl From<Down> for Ended {
    fn from(down: Down) -> Self {
        Self(down.reason)
    }
}

/// Process function: monitors a remote process and reports its end.
async fn watch<M: Send + 'static>(
    mut me: Process<Ended>,
    remote: Pid<M>,
    mut sender: Sender<ExitReason>,
) {
    me.monitor(&remote);
    if let Some(Ended(reason)) = race(|cx| sender.poll_closed(cx), me.receive()).await {
        // The future may have been dropped.
        let _ = sender.send(reason);
    }
}
