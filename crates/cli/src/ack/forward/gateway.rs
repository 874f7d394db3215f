//! The gateway: the process between the connections and the target process on another node.
//!
//! The gateway sends messages from connections as far as the target's credit permits, and keeps them until they are
//! confirmed. It monitors the target's registered name. While the name is unregistered or its node is unreachable,
//! unconfirmed messages wait and are resent once the target is back; the gateway detects this with a monitor that does
//! not fire. After the configured patience it fails the waiting connections. One gateway serves one name on one node
//! for as long as the command runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use purlin::{Down, ExitReason, MonitorRef, Pid, Process, Reply, Timer};
use purlin_ack::handler::Unhandled;
use purlin_ack::wire::SizeOrder;
use purlin_dist::cluster::Cluster;

use super::under_way::{AckAfter, UnderWay};
use super::words::{Batch, Said, Source};

/// Time after which a monitor that has not fired proves that the target exists.
const SETTLED: Duration = Duration::from_millis(100);
/// Delay between a monitor that has fired and the next one.
const AGAIN: Duration = Duration::from_millis(400);

/// Reply to the handler that passed a block.
type Answer = Reply<Result<(), Unhandled>>;

/// Messages to the gateway.
pub(in crate::ack) enum Mail {
    /// A block of messages from a connection.
    Take { bytes: Vec<u8>, order: SizeOrder, source: Arc<Source>, reply: Answer },
    /// A message of the target.
    Said(Said),
    /// The target has ended or does not exist.
    Down(Down),
    /// Timer: check whether the target exists.
    Look,
    /// Reply with the counters once nothing is unconfirmed, or after that time.
    Finish(Reply<Counts>, Duration),
    /// Timer: the time of `Finish` is over.
    Over,
}

impl From<Down> for Mail {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
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
enum Other {
    /// A monitor has just been set up.
    Asked,
    /// The target existed at the last check.
    There,
    /// The target does not exist or is unreachable.
    Away,
}

pub(super) struct Gateway {
    pub(super) cluster: Cluster,
    /// Target as given: name and node.
    pub(super) name: String,
    pub(super) to: Pid<Batch>,
    pub(super) after: AckAfter,
    pub(super) credit: u32,
    pub(super) patience: Duration,
}

struct State {
    is: Gateway,
    own: purlin_term::Pid,
    under_way: UnderWay<Answer>,
    other: Other,
    monitor: Option<MonitorRef>,
    /// Number of the last batch sent since the target was found. WHY: batches sent while a connection is lost go over
    /// the next one, ahead of earlier ones that are resent later; this number lets the target detect the gap.
    last: u64,
    /// Timer of the next check.
    look: Option<Timer>,
    /// Time since which the target has been away.
    away: Option<Instant>,
    counts: Counts,
    finish: Option<Reply<Counts>>,
}

impl Gateway {
    pub(super) async fn run(self, mut me: Process<Mail>) {
        let own = self.cluster.term_of(me.id());
        let under_way = UnderWay::new(self.after, self.credit);
        let (monitor, look, last, away, finish) = Default::default();
        let counts = Counts::default();
        let (is, other) = (self, Other::Asked);
        let mut state =
            State { is, own, under_way, other, monitor, look, last, away, counts, finish };
        state.ask(&mut me);
        loop {
            let mail = me.receive().await;
            state.heed(&mut me, mail);
            state.send_on();
            if state.under_way.unconfirmed() == 0 {
                state.tell();
            }
        }
    }
}

impl State {
    fn heed(&mut self, me: &mut Process<Mail>, mail: Mail) {
        match mail {
            Mail::Take { bytes, order, source, reply } => {
                if self.is_given_up() {
                    return reply.send(Err(self.is.gone()));
                }
                self.under_way.give_up_unwanted(Reply::is_wanted);
                self.under_way.take(bytes, order, source, reply);
            }
            Mail::Said(Said::Confirm(batch)) => {
                let Some((messages, reply)) = self.under_way.confirmed(batch) else { return };
                self.counts.confirmed += u64::from(messages);
                if let Some(reply) = reply {
                    reply.send(Ok(()));
                }
            }
            Mail::Said(Said::Credit(credit)) => self.under_way.set_credit(credit),
            Mail::Down(down) if self.monitor == Some(down.monitor) => {
                self.monitor = None;
                self.lost(&down.reason);
                self.look_after(me, AGAIN);
            }
            Mail::Down(_) => {}
            Mail::Look if self.monitor.is_none() => self.ask(me),
            Mail::Look => self.found(),
            Mail::Finish(reply, within) => {
                self.finish = Some(reply);
                me.pid().send_after(within, Mail::Over);
            }
            Mail::Over => self.tell(),
        }
    }

    /// Starts to check whether the target exists.
    fn ask(&mut self, me: &mut Process<Mail>) {
        self.monitor = Some(me.monitor(&self.is.to));
        self.other = Other::Asked;
        self.look_after(me, SETTLED);
    }

    fn look_after(&mut self, me: &Process<Mail>, time: Duration) {
        if let Some(earlier) = self.look.replace(me.pid().send_after(time, Mail::Look)) {
            earlier.cancel();
        }
    }

    /// Handles that the target is away.
    fn lost(&mut self, why: &ExitReason) {
        self.other = Other::Away;
        if self.away.is_none() {
            self.away = Some(Instant::now());
            eprintln!("purlin: {} is away ({why}); messages wait", self.is.name);
        }
        if self.is_given_up() {
            for reply in self.under_way.give_up() {
                reply.send(Err(self.is.gone()));
            }
        }
    }

    /// Handles that the target exists. Unconfirmed pieces were lost or are still in flight, so they are resent.
    fn found(&mut self) {
        if !matches!(self.other, Other::Asked) {
            return;
        }
        (self.other, self.last) = (Other::There, 0);
        if self.away.take().is_some() {
            eprintln!("purlin: {} is there", self.is.name);
        }
        for number in self.under_way.pieces() {
            self.counts.again += self.send(number);
        }
    }

    fn is_given_up(&self) -> bool {
        self.away.is_some_and(|since| since.elapsed() > self.is.patience)
    }

    /// Sends pieces as far as the credit permits, if the target exists.
    fn send_on(&mut self) {
        while matches!(self.other, Other::There)
            && let Some((number, reply)) = self.under_way.next()
        {
            self.send(number);
            if let Some(reply) = reply {
                reply.send(Ok(()));
            }
        }
    }

    /// Sends a piece. Returns its number of messages.
    fn send(&mut self, number: u64) -> u64 {
        let Some((piece, messages)) = self.under_way.piece(number) else { return 0 };
        let follows = std::mem::replace(&mut self.last, number);
        self.is.to.send(Batch { gateway: self.own.clone(), number, follows, piece });
        u64::from(messages)
    }

    /// Replies to a pending `Finish`.
    fn tell(&mut self) {
        if let Some(reply) = self.finish.take() {
            reply.send(Counts { unconfirmed: self.under_way.unconfirmed(), ..self.counts });
        }
    }
}

impl Gateway {
    fn gone(&self) -> Unhandled {
        Unhandled::Failed(ExitReason::shutdown_with(format!("{} is away", self.name)))
    }
}
