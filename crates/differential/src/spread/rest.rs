//! Whether a spread program rests: nobody on either node can go on, and nothing is under way.
//!
//! If every process of purlin's node sleeps, then a question goes to the other node and its answer comes
//! back, and again every process sleeps and has had no turn since: then purlin has said nothing since
//! before the question, which came behind all that it had said; the BEAM answered when it had dealt with
//! all of that, and the answer came behind all that the BEAM had said. So nothing is left to come. No time
//! is waited for. The question needs a connection, so whoever waits for one has it by then, and a node
//! that has lost one has found out.

use std::thread;

use purlin::{Down, Node, Pid, Process, ProcessId, ProcessState};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_term::Term;
use tokio::sync::oneshot;

/// What comes to the process that asks.
enum Mail {
    Ask(oneshot::Sender<bool>),
    Term(Term),
    Down(Down),
}

impl From<Down> for Mail {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
}

/// Asks the other node.
pub(super) struct Prober {
    node: Node,
    asker: Pid<Mail>,
    other: Pid<Term>,
}

impl Prober {
    pub(super) fn start(cluster: &Cluster, other: &NodeName) -> Option<Self> {
        cluster.receives_by(|term| Ok(Mail::Term(term)));
        let other = cluster.named::<Term>("differential", other)?;
        let (node, asked, cluster) = (cluster.node().clone(), other.clone(), cluster.clone());
        let asker = node.spawn(async move |me| ask(me, cluster, asked).await);
        Some(Self { node, asker, other })
    }

    /// Waits until nothing goes on; `false` if that does not happen in so many looks.
    pub(super) fn rests(&self, looks: usize) -> bool {
        (0..looks).any(|_| {
            let before = self.glance();
            let rests = before.is_some() && self.is_answered() && self.glance() == before;
            if !rests {
                thread::yield_now();
            }
            rests
        })
    }

    /// Every process of programs, and every stand-in, with the turns that it has had; `None` if one does not sleep.
    fn glance(&self) -> Option<Vec<(ProcessId, u64)>> {
        let own = [self.asker.id(), self.other.id()];
        // What reads and writes the connection has turns with every question; it keeps nothing back.
        let serves = |function: &str| function.contains("foreign::service");
        let all = self.node.processes().into_iter();
        let all = all.filter(|info| !own.contains(&info.id) && !serves(info.function));
        all.map(|info| {
            let sleeps = matches!(info.state, ProcessState::Receiving | ProcessState::Waiting);
            sleeps.then_some((info.id, info.reductions))
        })
        .collect()
    }

    fn is_answered(&self) -> bool {
        let (told, answered) = oneshot::channel();
        self.asker.send(Mail::Ask(told));
        answered.blocking_recv().unwrap_or(false)
    }
}

async fn ask(mut me: Process<Mail>, cluster: Cluster, other: Pid<Term>) {
    let mut number = 0_i64;
    let own = Term::from(cluster.term_of(me.id()));
    loop {
        let Mail::Ask(told) = me.receive().await else { continue };
        number += 1;
        let monitor = me.monitor(&other);
        other.send(Term::tuple([Term::atom("rest"), own.clone(), Term::from(number)]));
        let is_answer = |term: &Term| match term.as_tuple() {
            Some([_, own]) => own.as_integer() == Some(number),
            _ => false,
        };
        let answered = loop {
            match me.receive().await {
                Mail::Term(term) if is_answer(&term) => break true,
                Mail::Down(down) if down.monitor == monitor => break false,
                _ => {}
            }
        };
        me.demonitor_flush(monitor);
        // Nobody gives up waiting for it.
        let _ = told.send(answered);
    }
}
