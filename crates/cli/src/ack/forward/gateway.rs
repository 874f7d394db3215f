//! The gateway: the process between the connections and the target process on another node.
//!
//! The gateway sends messages from connections as far as the target's credit permits, and keeps them until they are
//! confirmed. It monitors the target's registered name. While the name is unregistered or its node is unreachable,
//! unconfirmed messages wait and are resent once the target is back; the gateway detects this with a monitor that does
//! not fire while its node is connected. After the give-up time it fails the waiting connections. One gateway serves one
//! name on one node for as long as the command runs.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use purlin::{Down, ExitReason, MonitorRef, Pid, Process, Reply, Timer};
use purlin_ack::handler::Unhandled;
use purlin_ack::wire::SizeOrder;
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;

use super::in_flight::{AckAfter, InFlight};
use super::terms::{Batch, Source, TargetMessage};
use crate::output::{print_error, problem};

/// Time after which a monitor that has not fired proves that the target exists, if its node was connected throughout.
const PROBE_TIME: Duration = Duration::from_millis(100);
/// Delay between a monitor that has fired and the next one.
const PROBE_INTERVAL: Duration = Duration::from_millis(400);

/// Reply to the handler that passed a block.
type Answer = Reply<Result<(), Unhandled>>;

/// Messages to the gateway.
#[derive(purlin::Message)]
pub(in crate::ack) enum Mail {
    /// A block of messages from a connection.
    Take { bytes: Vec<u8>, order: SizeOrder, source: Arc<Source>, reply: Answer },
    /// A message of the target.
    Target(TargetMessage),
    /// The target has ended or does not exist.
    #[from]
    Down(Down),
    /// Timer: check whether the target exists.
    Probe,
    /// Reply with the counters once nothing is unconfirmed, or after that time.
    Finish(Reply<Counts>, Duration),
    /// Timer: the time of `Finish` is over.
    Over,
}

/// Counters of the gateway.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ack) struct Counts {
    /// Confirmed messages.
    pub(in crate::ack) confirmed: u64,
    /// Messages sent more than once.
    pub(in crate::ack) again: u64,
    /// Messages sent and not confirmed.
    pub(in crate::ack) unconfirmed: u32,
}

/// State of the target.
enum TargetState {
    /// A monitor has just been set up.
    Probed,
    /// The target existed at the last check.
    Up,
    /// The target does not exist or is unreachable.
    Unavailable,
}

/// Settings of the gateway process.
pub(super) struct Gateway {
    pub(super) cluster: Cluster,
    /// Target as given: name and node.
    pub(super) name: String,
    pub(super) to: Pid<Batch>,
    /// Node of the target.
    pub(super) node: NodeName,
    pub(super) after: AckAfter,
    pub(super) credit: u32,
    pub(super) give_up_after: Duration,
}

/// State of the gateway process.
struct State {
    gateway: Gateway,
    own: purlin_term::Pid,
    in_flight: InFlight<Answer>,
    target: TargetState,
    monitor: Option<MonitorRef>,
    /// Whether the target's node was connected at the last check.
    connected: bool,
    /// Number of the last batch sent since the target was found. WHY: batches sent while a connection is lost go over
    /// the next one, ahead of earlier ones that are resent later; this number lets the target detect the gap.
    last: u64,
    /// Timer of the next check.
    probe: Option<Timer>,
    /// Time since which the target has been unavailable.
    unavailable_since: Option<Instant>,
    counts: Counts,
    finish: Option<Reply<Counts>>,
}

impl Gateway {
    pub(super) async fn run(self, mut me: Process<Mail>) {
        let mut state = State {
            own: self.cluster.term_of(me.id()),
            in_flight: InFlight::new(self.after, self.credit),
            gateway: self,
            target: TargetState::Probed,
            monitor: None,
            connected: false,
            last: 0,
            probe: None,
            unavailable_since: None,
            counts: Counts::default(),
            finish: None,
        };
        state.probe(&mut me);
        loop {
            let mail = me.receive().await;
            state.handle(&mut me, mail);
            state.send_on();
            if state.in_flight.unconfirmed() == 0 {
                state.reply_to_finish();
            }
        }
    }

    fn unavailable(&self) -> Unhandled {
        Unhandled::Failed(ExitReason::shutdown_with(format!("{} is unavailable", self.name)))
    }
}

impl State {
    fn handle(&mut self, me: &mut Process<Mail>, mail: Mail) {
        match mail {
            Mail::Take { bytes, order, source, reply } => {
                if self.is_given_up() {
                    return reply.send(Err(self.gateway.unavailable()));
                }
                self.in_flight.give_up_unwanted(Reply::is_wanted);
                self.in_flight.take(bytes, order, source, reply);
            }
            Mail::Target(TargetMessage::Confirm(batch)) => {
                let Some((messages, reply)) = self.in_flight.confirmed(batch) else { return };
                self.counts.confirmed += u64::from(messages);
                if let Some(reply) = reply {
                    reply.send(Ok(()));
                }
            }
            Mail::Target(TargetMessage::Credit(credit)) => self.in_flight.set_credit(credit),
            Mail::Down(down) if self.monitor == Some(down.monitor) => {
                self.monitor = None;
                self.lost(&down.reason);
                self.probe_after(me, PROBE_INTERVAL);
            }
            Mail::Down(_) => {}
            Mail::Probe if self.monitor.is_none() => self.probe(me),
            Mail::Probe => self.check(me),
            Mail::Finish(reply, within) => {
                self.finish = Some(reply);
                me.pid().send_after(within, Mail::Over);
            }
            Mail::Over => self.reply_to_finish(),
        }
    }

    /// Starts to check whether the target exists.
    fn probe(&mut self, me: &mut Process<Mail>) {
        self.monitor = Some(me.monitor(&self.gateway.to));
        self.target = TargetState::Probed;
        self.connected = self.is_connected();
        self.probe_after(me, PROBE_TIME);
    }

    /// Handles that the monitor has not fired during the probe time. WHY the node must be connected, too: an attempt to
    /// connect to a host that does not answer takes seconds, and the monitor does not fire meanwhile.
    fn check(&mut self, me: &Process<Mail>) {
        let connected = self.is_connected();
        let before = std::mem::replace(&mut self.connected, connected);
        if connected && before {
            return self.found();
        }
        if !connected {
            self.unavailable("its node is not connected");
        }
        self.probe_after(me, PROBE_TIME);
    }

    fn is_connected(&self) -> bool {
        self.gateway.cluster.nodes().contains(&self.gateway.node)
    }

    fn probe_after(&mut self, me: &Process<Mail>, time: Duration) {
        if let Some(earlier) = self.probe.replace(me.pid().send_after(time, Mail::Probe)) {
            earlier.cancel();
        }
    }

    /// Handles that the monitor has fired.
    fn lost(&mut self, why: &ExitReason) {
        self.target = TargetState::Unavailable;
        self.unavailable(why);
    }

    /// Handles that the target is unavailable.
    fn unavailable(&mut self, why: impl Display) {
        if self.unavailable_since.is_none() {
            self.unavailable_since = Some(Instant::now());
            let name = &self.gateway.name;
            let line = problem(format!("purlin: {name} is unavailable ({why}); messages wait"));
            print_error(&line.to_string());
        }
        if self.is_given_up() {
            for reply in self.in_flight.give_up() {
                reply.send(Err(self.gateway.unavailable()));
            }
        }
    }

    /// Handles that the target exists. Unconfirmed pieces were lost or are still in flight, so they are resent.
    fn found(&mut self) {
        if !matches!(self.target, TargetState::Probed) {
            return;
        }
        (self.target, self.last) = (TargetState::Up, 0);
        if self.unavailable_since.take().is_some() {
            print_error(&format!("purlin: {} is available again", self.gateway.name));
        }
        for number in self.in_flight.pieces() {
            self.counts.again += self.send(number);
        }
    }

    fn is_given_up(&self) -> bool {
        self.unavailable_since.is_some_and(|since| since.elapsed() > self.gateway.give_up_after)
    }

    /// Sends pieces as far as the credit permits, if the target exists.
    fn send_on(&mut self) {
        while matches!(self.target, TargetState::Up)
            && let Some((number, reply)) = self.in_flight.next()
        {
            self.send(number);
            if let Some(reply) = reply {
                reply.send(Ok(()));
            }
        }
    }

    /// Sends a piece. Returns its number of messages.
    fn send(&mut self, number: u64) -> u64 {
        let Some((piece, messages)) = self.in_flight.piece(number) else { return 0 };
        let follows = std::mem::replace(&mut self.last, number);
        self.gateway.to.send(Batch { gateway: self.own.clone(), number, follows, piece });
        u64::from(messages)
    }

    /// Replies to a pending `Finish`.
    fn reply_to_finish(&mut self) {
        if let Some(reply) = self.finish.take() {
            reply.send(Counts { unconfirmed: self.in_flight.unconfirmed(), ..self.counts });
        }
    }
}
