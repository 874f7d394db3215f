//! The gateway: the process between the connections and a process of another node.
//!
//! It sends what comes from connections as far as the other process's credit goes, and keeps it until
//! it is confirmed. It watches the name of the other process. While nobody has it, or its node is
//! away, what is unconfirmed waits, to be sent again when there is somebody; that is found out by
//! asking, with a monitor that does not fire. After the patience that it was given it fails those who
//! wait. Belongs to one node and one name, as long as the command runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use purlin::{Down, ExitReason, MonitorRef, Pid, Process, Reply, Timer};
use purlin_ack::handler::Unhandled;
use purlin_ack::wire::SizeOrder;
use purlin_dist::cluster::Cluster;

use super::under_way::{AckAfter, UnderWay};
use super::words::{Batch, Said, Source};

/// A monitor that has not fired for so long watches somebody.
const SETTLED: Duration = Duration::from_millis(100);
/// When the next monitor is made after one that has fired.
const AGAIN: Duration = Duration::from_millis(400);

/// What a block's sender is told.
type Answer = Reply<Result<(), Unhandled>>;

/// What comes to the gateway.
pub(in crate::ack) enum Mail {
    /// A connection has this.
    Take { bytes: Vec<u8>, order: SizeOrder, source: Arc<Source>, reply: Answer },
    /// The other process says this.
    Said(Said),
    /// It has ended, or is not there.
    Down(Down),
    /// It is time to see whether it is there.
    Look,
    /// Tell what was done when nothing is unconfirmed, after that time in any case.
    Finish(Reply<Counts>, Duration),
    /// That time is over.
    Over,
}

impl From<Down> for Mail {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
}

/// What it has done.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ack) struct Counts {
    /// Messages that were confirmed.
    pub(in crate::ack) confirmed: u64,
    /// Messages that were sent more than once.
    pub(in crate::ack) again: u64,
    /// Messages that were sent and have not been confirmed.
    pub(in crate::ack) unconfirmed: u32,
}

/// What is known of the other process.
enum Other {
    /// A monitor of it was made just now.
    Asked,
    /// It was there when somebody looked last.
    There,
    /// Nobody is there.
    Away,
}

pub(super) struct Gateway {
    pub(super) cluster: Cluster,
    /// As it was asked for: a name and a node.
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
    /// What was sent last since somebody was there. WHY: what is sent when a connection is lost goes over the
    /// next one, and what was before it comes again only later; by this the other process knows.
    last: u64,
    /// When it looks again.
    look: Option<Timer>,
    /// Since when nobody has been there, until somebody is.
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

    /// Begins to find out whether somebody is there.
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

    /// Nobody is there.
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

    /// Somebody is there: what is unconfirmed was lost with somebody else, or on its way.
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

    /// Sends as far as there is credit, if somebody is there.
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

    /// Sends a piece; gives how many messages it has.
    fn send(&mut self, number: u64) -> u64 {
        let Some((piece, messages)) = self.under_way.piece(number) else { return 0 };
        let follows = std::mem::replace(&mut self.last, number);
        self.is.to.send(Batch { gateway: self.own.clone(), number, follows, piece });
        u64::from(messages)
    }

    /// Answers who wants to know what was done.
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
