//! Report of a process that ended because of a panic or an error.

use std::time::SystemTime;

use crate::process::unwind::contain;
use purlin_raw::Snapshot;

use crate::node::context::with_context;
use crate::node::erlang_types::Peer;
use crate::observe::{Crash, beginning};
use crate::remote::Answer;
use crate::{ExitReason, ProcessId};

/// Logs and records an end by a panic or an error; ignores other exit reasons.
#[cold]
pub(crate) fn report(me: &Peer, reason: &ExitReason, function: &'static str) {
    match reason {
        ExitReason::Panic(_) => {}
        ExitReason::Error(why) if why.downcast_ref::<Answer>().is_none() => {}
        _ => return,
    }
    let snapshot = me.snapshot();
    let pid = ProcessId::new(me.shared().creation, snapshot.slot);
    let (mailbox, received) = (snapshot.mailbox_len, snapshot.received);
    record_crash(me, &snapshot, reason, function);
    // WHY: `contain`, because tracing subscribers are user code.
    contain(|| tracing::error!(%pid, function, %reason, mailbox, received, "process ended"));
}

/// Records a crash in the node's journal.
fn record_crash(me: &Peer, snapshot: &Snapshot, reason: &ExitReason, function: &'static str) {
    with_context(|here| {
        let node_state = here.node_core.state();
        node_state.journal.crashed(Crash {
            number: 0,
            when: SystemTime::now(),
            at: here.timers.now(),
            id: ProcessId::new(me.shared().creation, snapshot.slot),
            name: node_state.names.of(snapshot.slot),
            parent: me.shared().parent(),
            function,
            reason: beginning(reason),
            mailbox_len: snapshot.mailbox_len,
            messages_in: snapshot.received,
        });
    });
}
