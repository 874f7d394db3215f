//! Detects rest of a spread program: no process on either node can run, and no signal is in flight.
//!
//! A *round* observes all processes of purlin's node, sends a question to the BEAM, waits for the answer, and observes the
//! processes again. It counts if all of them are asleep at both times and had no turn in between. The question follows
//! everything that purlin has sent before. The BEAM answers when its processes have handled that and wait, and the answer
//! follows everything that they have sent. The program is at rest after two successive rounds that count, if the
//! processes of purlin had no turn in between either, and the BEAM's processes no report ([`Machine`](super::machine::Machine)).
//!
//! WHY two rounds: after the first one, purlin may still have sent something, because the reader of the connection answers
//! a signal to a process that does not exist without a process having a turn, for example a monitor with `noproc`. It has
//! queued that answer before it passes on the answer of the first round, so the question of the second round follows it.
//! And without a report between the two answers the BEAM has sent nothing in between that the reader could have answered.
//!
//! An observation must not miss a process that has something left to send:
//!
//! - A process that ends leaves the process table before its exit and down signals are sent. So the processes of the
//!   program are observed by their pids, and an ended one counts as over only when its worker has finished with it.
//! - A proxy that waits for a connection is not at rest although it sleeps. With nothing left to send it waits for a
//!   message instead.
//!
//! No clock is involved. The question needs a connection, so by then a node that has lost one has noticed.

use std::thread;

use purlin::observe::ProcessSnapshot;
use purlin::{Down, Node, Pid, Process, ProcessId, ProcessState};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_term::Term;
use tokio::sync::oneshot;

use crate::native::{Glance, Half};

/// Number of process table slots that are visited at a time.
const SLICE: u32 = 1024;

/// Message type of the asking process.
#[derive(purlin::Message)]
enum Mail {
    Ask(oneshot::Sender<Option<i64>>),
    Term(Term),
    #[from]
    Down(Down),
}

/// Observation of purlin's node in which every process is asleep.
#[derive(PartialEq, Eq)]
struct Asleep {
    /// The processes of the program.
    program: Vec<Glance>,
    /// Proxies and agents with their turn counts.
    remote: Vec<(ProcessId, u64)>,
}

/// A round that counts.
#[derive(PartialEq, Eq)]
struct Round {
    asleep: Asleep,
    /// Number of reports of the BEAM's processes.
    reports: i64,
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

    /// Waits until the program is at rest; returns `false` if it is not after `rounds` rounds. `half` is the part of the
    /// program on purlin's node, if it has begun.
    pub(super) fn rests(&self, half: Option<&Half>, rounds: usize) -> bool {
        let mut last = None;
        (0..rounds).any(|_| {
            let round = self.round(half);
            let rests = round.is_some() && round == last;
            if round.is_none() {
                thread::yield_now();
            }
            last = round;
            rests
        })
    }

    /// Returns what a round has shown; `None` if it does not count.
    fn round(&self, half: Option<&Half>) -> Option<Round> {
        let asleep = self.observe(half)?;
        let reports = self.ask()?;
        (self.observe(half)? == asleep).then_some(Round { asleep, reports })
    }

    /// Observes all processes; returns `None` unless they are asleep and the proxies have nothing left to send.
    fn observe(&self, half: Option<&Half>) -> Option<Asleep> {
        let program = half.map_or(Some(Vec::new()), Half::glances)?;
        let (mut remote, mut rests, mut next) = (Vec::new(), true, Some(0));
        while let Some(from) = next {
            next = self.node.snapshots(from, SLICE, |seen| {
                if self.is_remote(&seen) {
                    rests &= seen.state == ProcessState::Receiving;
                    remote.push((seen.id, seen.reductions));
                }
            });
        }
        rests.then_some(Asleep { program, remote })
    }

    /// Whether a process is a proxy or the agent of a connection, except for the proxy to which questions are sent.
    fn is_remote(&self, seen: &ProcessSnapshot) -> bool {
        // Readers and writers have turns with every question; they pass on everything in order.
        let is_service = || seen.process_type.function().contains("remote::service");
        seen.is_system && seen.id != self.other.id() && !is_service()
    }

    /// Asks the BEAM; returns its number of reports, or `None` if the connection was lost.
    fn ask(&self) -> Option<i64> {
        let (sender, answered) = oneshot::channel();
        self.asker.send(Mail::Ask(sender));
        answered.blocking_recv().ok().flatten()
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
        let reports = |term: &Term| match term.as_tuple() {
            Some([_, own, reports]) if own.as_integer() == Some(number) => reports.as_integer(),
            _ => None,
        };
        let answer = loop {
            match me.receive().await {
                Mail::Term(term) if reports(&term).is_some() => break reports(&term),
                Mail::Down(down) if down.monitor == monitor => break None,
                _ => {}
            }
        };
        me.demonitor_flush(monitor);
        // The receiver waits for the result without a timeout.
        let _ = sender.send(answer);
    }
}

#[cfg(test)]
mod tests;
