//! The reading half of a connection, and all waiting that its process does.
//!
//! Belongs to the connection's process and is used in its turns only. A strategy
//! asks it to [`fill`](Reader::fill) a buffer and to [`write`](Reader::write),
//! and is told [how the connection ended](End) when it has: by the client, by the
//! network, by silence, by an exit signal. It never looks at what was read.
//!
//! *Told to end.* Exit signals are trapped. They are looked at before each read
//! and while there is nothing to read, never while something is written or
//! handled: what was read is answered before the connection ends.
//!
//! *Silence.* A message has to begin within the time that is set, and to become
//! whole within the same time again, or the connection is [silent](End::Silent). So
//! a client that sends a byte now and then does not live for ever.
//!
//! *Keenness.* A client in lock-step writes a few microseconds after it was
//! answered. Where the last wait was that short, the next begins with asking again
//! and again, for [`KEEN`] at most, letting others run in between: being woken by
//! the kernel would take longer than the whole round. A connection whose waits are
//! long never does so, and one that asks in vain [ever more seldom](Keen).
//!
//! *Lingering.* A client that writes little at a time, and a lot of it, is read from
//! less often, where that [moves more](Pace).
//!
//! COST: a read that finds something is one system call and a look at the mailbox, and one at
//! the clock where it takes what there is.
//! A connection that has been quiet for [`REST`] gives back its
//! buffer.

use std::future::Future;
use std::time::Duration;

use purlin::{
    Exit, ExitReason, Keen, Outcome, Pid, Process, ProcessId, SpawnError, SpawnOptions, yield_now,
};
use tokio::io::Interest;

use super::ending::End;
use super::pace::{LINGERS, Pace};
use super::socket::Socket;
use super::waiting::{now, receive_within, told_within, within};
use crate::inbuf::InBuf;

/// How long it waits with its buffer.
const REST: Duration = Duration::from_secs(1);
/// How long a connection that is being closed waits for the client to have read everything.
const LINGER: Duration = Duration::from_secs(1);

/// How much to read at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Exactly what the next message is known to need.
    Exact,
    /// Whatever there is.
    Available,
}

/// What the process of a connection reads with, and waits.
#[derive(Debug)]
pub(crate) struct Reader {
    me: Process<Exit>,
    socket: Socket,
    /// Processes that do a part of the connection's work.
    helpers: Vec<ProcessId>,
    silence: Duration,
    /// When a message was last known to have begun or become whole, on the node's clock.
    heard_at: Duration,
    /// One has since.
    heard: bool,
    /// When it last took what there was, on the node's clock.
    read_at: Duration,
    keen: Keen,
    pace: Pace,
}

impl Reader {
    pub(crate) fn new(me: Process<Exit>, socket: Socket, silence: Duration) -> Self {
        Self {
            me,
            socket,
            helpers: Vec::new(),
            silence,
            heard_at: now(),
            heard: false,
            read_at: Duration::ZERO,
            keen: Keen::default(),
            pace: Pace::new(now()),
        }
    }

    /// The process.
    pub(crate) fn pid(&self) -> Pid<Exit> {
        self.me.pid()
    }

    /// The connection, for another process to write to.
    pub(crate) fn socket(&self) -> Socket {
        self.socket.clone()
    }

    /// Starts a process that does a part of the work, linked to this one.
    pub(crate) fn helper<N, F, Fut>(
        &mut self,
        options: SpawnOptions,
        function: F,
    ) -> Result<Pid<N>, End>
    where
        N: Send + 'static,
        F: FnOnce(Process<N>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let helper = self.me.spawn_link_opt(options, function).map_err(|error| {
            End::Helper(match error {
                SpawnError::SystemLimit(_) => ExitReason::SystemLimit,
                other => ExitReason::shutdown_with(other.to_string()),
            })
        })?;
        self.helpers.push(helper.id());
        Ok(helper)
    }

    /// Reads once into the buffer, of which the next message needs so many bytes; waits if there is
    /// nothing.
    pub(crate) async fn fill(
        &mut self,
        buffer: &mut InBuf,
        needed: usize,
        amount: Amount,
    ) -> Result<(), End> {
        self.heed()?;
        if amount == Amount::Available && self.pace.lingers() {
            let until = now().saturating_add(LINGERS);
            while now() < until {
                yield_now().await;
            }
        }
        // WHY: who has no memory to read to has been quiet, and gets some when there is something.
        if buffer.capacity() > 0 && self.take(buffer, needed, amount)? {
            return Ok(());
        }
        let began = now();
        if std::mem::take(&mut self.heard) {
            self.heard_at = began;
        }
        let asks = self.keen.asks();
        while asks && now().saturating_sub(began) < Keen::LONGEST {
            yield_now().await;
            self.heed()?;
            if self.take(buffer, needed, amount)? {
                self.keen.found();
                return Ok(());
            }
        }
        let silent = self.heard_at.saturating_add(self.silence);
        let mut until = silent.min(began.saturating_add(REST));
        loop {
            self.pace.woken(now);
            if self.wait(until).await? {
                if self.take(buffer, needed, amount)? {
                    self.keen.woken(now().saturating_sub(began));
                    return Ok(());
                }
            } else if until == silent {
                return Err(End::Silent);
            } else {
                buffer.release();
                self.socket.rest();
                until = silent;
            }
        }
    }

    /// When it last took what there was, on the node's clock.
    pub(crate) fn read_at(&self) -> Duration {
        self.read_at
    }

    /// A message has become whole.
    pub(crate) fn heard(&mut self) {
        // WHY no look at the clock: it matters only once there is something to wait for.
        self.heard = true;
    }

    /// Writes all of that.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), End> {
        write_all(&mut self.me, &self.socket, bytes, self.silence, |_| false).await
    }

    /// Has the other connections of the same client end when they have answered what they have read, and
    /// kills them if that takes longer than `patience`; whether they have ended.
    pub(crate) async fn replace(&mut self, others: &[Pid<Exit>], patience: Duration) -> bool {
        let tell = |reason: ExitReason| others.iter().for_each(|other| other.exit(reason.clone()));
        tell(ExitReason::shutdown_with(End::Replaced));
        if within(&mut self.me, patience, all_ended(others)).await.is_some() {
            return true;
        }
        tell(ExitReason::Kill);
        // WHY not until they have: a handler that does not await would keep this one for ever.
        within(&mut self.me, patience, all_ended(others)).await.is_some()
    }

    /// Closes the connection at once, whatever the client has not read.
    ///
    /// WHY: what it does not read would stay with the operating system for minutes, and the client would
    /// not hear of the end for as long.
    pub(crate) fn reset(self) {
        self.socket.reset();
    }

    /// Closes the connection when the client has read everything, or has had time to.
    ///
    /// WHY it goes on reading: a socket that is closed with something unread resets the connection,
    /// and a client may lose acks that it has not read.
    pub(crate) async fn close(mut self) {
        self.socket.give_up_after(self.silence);
        let until = now().saturating_add(LINGER);
        loop {
            match self.socket.finish() {
                Ok(true) => break,
                Ok(false) if self.ready_by(until, Interest::WRITABLE).await => {}
                Ok(false) | Err(_) => return,
            }
        }
        let mut unread = vec![0; 16 << 10];
        loop {
            match self.socket.read(&mut unread) {
                Ok(Some(0)) | Err(_) => return,
                Ok(Some(_)) if now() < until => yield_now().await,
                Ok(None) if self.ready_by(until, Interest::READABLE).await => {}
                Ok(_) => return,
            }
        }
    }

    async fn ready_by(&mut self, until: Duration, interest: Interest) -> bool {
        let left = until.saturating_sub(now());
        let ready = within(&mut self.me, left, self.socket.ready(interest)).await;
        matches!(ready, Some(Ok(())))
    }

    /// Reads what there is; whether there was anything.
    fn take(&mut self, buffer: &mut InBuf, needed: usize, amount: Amount) -> Result<bool, End> {
        let room = buffer.room(needed);
        let most = match amount {
            Amount::Exact => needed.clamp(1, room.len()),
            Amount::Available => room.len(),
        };
        match self.socket.read(&mut room[..most])? {
            None => Ok(false),
            Some(0) => Err(End::Closed),
            Some(count) => {
                self.heard |= buffer.waiting().is_empty();
                buffer.filled(count);
                if amount == Amount::Available {
                    self.read_at = now();
                    self.pace.read(count, self.read_at);
                }
                Ok(true)
            }
        }
    }

    /// Waits until there is something to read; `false` when it is that late.
    async fn wait(&mut self, until: Duration) -> Result<bool, End> {
        let left = until.saturating_sub(now());
        let told = tokio::select! {
            biased;
            told = receive_within(&mut self.me, left) => told,
            ready = self.socket.ready(Interest::READABLE) => {
                return ready.map(|()| true).map_err(End::Lost);
            }
        };
        told.map_or(Ok(false), |exit| Err(self.end_of(exit)))
    }

    /// Looks whether the process has been told to end.
    fn heed(&mut self) -> Result<(), End> {
        match self.me.try_receive() {
            None => Ok(()),
            Some(exit) => Err(self.end_of(exit)),
        }
    }

    fn end_of(&self, exit: Exit) -> End {
        if exit.from.is_some_and(|from| self.helpers.contains(&from)) {
            return End::Helper(exit.reason);
        }
        match &exit.reason {
            ExitReason::ShutdownWith(why) if matches!(why.downcast_ref(), Some(End::Replaced)) => {
                End::Replaced
            }
            _ => End::Told(exit.reason),
        }
    }
}

async fn all_ended(processes: &[Pid<Exit>]) {
    for process in processes {
        process.ended().await;
    }
}

/// Writes all of that, and whatever has stayed behind, if the client makes room for some of it within each
/// `patience`, and no message comes that `ends` it.
///
/// Once it has failed nothing may be written behind it: half an ack may be on its way.
pub(crate) async fn write_all<M: Send + 'static>(
    me: &mut Process<M>,
    socket: &Socket,
    mut bytes: &[u8],
    patience: Duration,
    ends: impl Fn(&M) -> bool,
) -> Result<(), End> {
    while !bytes.is_empty() || !socket.flush().map_err(End::Lost)? {
        match socket.write(bytes).map_err(End::Lost)? {
            Some(count) => bytes = &bytes[count..],
            None => tokio::select! {
                biased;
                ready = socket.ready(Interest::WRITABLE) => ready.map_err(End::Lost)?,
                told = told_within(me, patience, &ends) => {
                    return Err(if told { End::Told(ExitReason::Normal) } else { End::Deaf });
                }
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use purlin::Node;

    use super::*;
    use crate::server::socket::tests::connected;

    #[test]
    fn a_write_that_waits_for_room_ends_with_the_message_that_ends_it_and_no_other() {
        let (socket, _deaf) = connected();
        let node = Node::builder().workers(1).build().expect("a node starts");
        let ended = node.block_on(async move |_: Process<()>| {
            let writer = purlin::spawn(async move |mut me: Process<u8>| {
                let bytes = vec![0; 64 << 20];
                let day = Duration::from_secs(86_400);
                let written = write_all(&mut me, &socket, &bytes, day, |told| *told == 2).await;
                assert_eq!(me.flush(), [1, 3], "the others stay");
                written.map_or_else(ExitReason::shutdown_with, |()| ExitReason::Normal)
            });
            (1..=3).for_each(|told| writer.send(told));
            writer.ended().await
        });
        node.stop_blocking();
        let ExitReason::ShutdownWith(why) = &ended else { panic!("{ended}") };
        assert!(matches!(why.downcast_ref(), Some(End::Told(ExitReason::Normal))), "{ended}");
    }
}
