//! Detects rest of a spread program: no process on either node can run, and no signal is in flight.
//!
//! Suppose every process of purlin's node sleeps, then a question goes to the other node and its answer comes back, and
//! every process still sleeps and has had no turn since. Then purlin has sent nothing since before the question, which
//! followed everything it had sent; the BEAM answered after it had handled all of that, and the answer followed
//! everything the BEAM had sent. So nothing is left in flight. No clock is involved. The question needs a connection,
//! so a process that waits for one has it by then, and a node that has lost one has noticed.

use std::thread;

use purlin::{Down, Node, Pid, Process, ProcessId, ProcessState};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_term::Term;
use tokio::sync::oneshot;

/// Message type of the asking process.
#[derive(purlin::Message)]
enum Mail {
    Ask(oneshot::Sender<bool>),
    Term(Term),
    #[from]
    Down(Down),
}

/// Sends questions to the other node.
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

    /// Waits until the program is at rest; returns `false` if it is not after `looks` observations.
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

    /// Returns all processes of programs and all proxies with their turn counts; `None` if one is not asleep.
    fn glance(&self) -> Option<Vec<(ProcessId, u64)>> {
        let own = [self.asker.id(), self.other.id()];
        // The system processes of the connection have turns with every question; they hold nothing back.
        let serves = |function: &str| function.contains("remote::service");
        let all = self.node.processes().into_iter();
        let all = all.filter(|info| !own.contains(&info.id) && !serves(info.function));
        all.map(|info| {
            let sleeps = matches!(info.state, ProcessState::Receiving | ProcessState::Waiting);
            sleeps.then_some((info.id, info.reductions))
        })
        .collect()
    }

    fn is_answered(&self) -> bool {
        let (sender, answered) = oneshot::channel();
        self.asker.send(Mail::Ask(sender));
        answered.blocking_recv().unwrap_or(false)
    }
}

async fn ask(mut me: Process<Mail>, cluster: Cluster, other: Pid<Term>) {
    let mut number = 0_i64;
    let own = Term::from(cluster.term_of(me.id()));
    loop {
        let Mail::Ask(sender) = me.receive().await else { continue };
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
        // The receiver waits for the result without a timeout.
        let _ = sender.send(answered);
    }
}
