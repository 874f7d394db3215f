//! Servers with a bounded mailbox: requests to stop and exit signals pass the bound (B2).

use std::convert::Infallible;
use std::future::IntoFuture;
use std::time::Duration;

use crate::common::Notice;
use crate::waiting::comes;
use futures_util::FutureExt;
use purlin::server::{self, Init, Mail, Next, Server, ServerRef};
use purlin::{Exit, ExitReason, Overflow, Pid, Process, SpawnOptions, receive, spawn};
use tokio::sync::oneshot;

const POLICIES: [Overflow; 4] =
    [Overflow::Wait, Overflow::Reject, Overflow::DropNewest, Overflow::DropOldest];

/// A server whose handler waits until the test lets it continue.
#[derive(Debug)]
struct Clerk(Pid<Seen>);

/// Reports of a clerk. Its parent, the test, also receives its exit signal.
#[derive(Debug)]
enum Seen {
    Exit,
    Waits,
    Work,
    Terminate(ExitReason),
}

impl From<Exit> for Seen {
    fn from(_: Exit) -> Self {
        Self::Exit
    }
}

#[derive(Debug)]
enum Cast {
    Wait(oneshot::Receiver<()>),
    Work,
}

impl Server for Clerk {
    type Args = (Pid<Seen>, Option<oneshot::Receiver<()>>);
    type Call = Infallible;
    type Cast = Cast;
    type Info = Notice;
    type Continue = oneshot::Receiver<()>;

    async fn init(
        (witness, gate): Self::Args,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Init<Self>> {
        me.trap_exit(true);
        let next = gate.map_or(Next::Wait, Next::Continue);
        Ok(Init::Then(Clerk(witness), next))
    }

    async fn handle_continue(
        &mut self,
        gate: oneshot::Receiver<()>,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.0.send(Seen::Waits);
        gate.await?;
        Ok(Next::Wait)
    }

    async fn handle_cast(
        &mut self,
        cast: Cast,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match cast {
            Cast::Wait(gate) => self.handle_continue(gate, me).await,
            Cast::Work => {
                self.0.send(Seen::Work);
                Ok(Next::Wait)
            }
        }
    }

    async fn terminate(&mut self, reason: &ExitReason, _me: &mut Process<Mail<Self>>) {
        self.0.send(Seen::Terminate(reason.clone()));
    }
}

fn bounded(overflow: Overflow) -> SpawnOptions {
    SpawnOptions::new().bound(2, overflow)
}

/// Starts a clerk that waits in a handler, with a full mailbox. Returns what lets it continue.
async fn busy(
    me: &mut Process<Seen>,
    overflow: Overflow,
) -> (ServerRef<Clerk>, oneshot::Sender<()>) {
    let start = server::start_link::<Clerk>(&*me, (me.pid(), None)).options(bounded(overflow));
    let clerk = start.await.expect("it starts");
    let (open, gate) = oneshot::channel();
    clerk.cast(Cast::Wait(gate));
    receive!(me, { Seen::Waits => () });
    for _ in 0..2 {
        assert!(clerk.pid().try_send(Mail::Cast(Cast::Work)).is_ok());
    }
    (clerk, open)
}

/// Sends past the bound. With *drop the oldest*, waits until the server has dropped as many.
async fn overfill(clerk: &ServerRef<Clerk>, overflow: Overflow) {
    let drops = || clerk.pid().info().bound.map(|bound| bound.dropped);
    let before = drops();
    // With the other policies this fails, or the message is dropped.
    let _ = clerk.pid().try_send(Mail::Cast(Cast::Work));
    if overflow == Overflow::DropOldest {
        comes("it drops the oldest", || drops() > before).await;
    }
}

/// Returns the reason of the end, and the number of casts handled before.
async fn ending(me: &mut Process<Seen>) -> (ExitReason, usize) {
    let mut handled = 0;
    loop {
        match me.receive().await {
            Seen::Work => handled += 1,
            Seen::Terminate(reason) => return (reason, handled),
            Seen::Waits | Seen::Exit => {}
        }
    }
}

/// Casts that are handled before a request to stop.
fn kept(overflow: Overflow) -> usize {
    if overflow == Overflow::DropOldest { 0 } else { 2 }
}

// G1, B2
#[purlin::test(workers = 2)]
async fn a_full_mailbox_neither_rejects_nor_drops_a_stop(mut me: Process<Seen>) {
    me.trap_exit(true);
    for overflow in POLICIES {
        let (clerk, open) = busy(&mut me, overflow).await;
        let mut stop = std::pin::pin!(clerk.stop_with(ExitReason::Shutdown, Duration::MAX));
        assert_eq!(stop.as_mut().now_or_never(), None, "{overflow:?}: it lives");
        overfill(&clerk, overflow).await;
        overfill(&clerk, overflow).await;
        open.send(()).expect("it waits");
        assert_eq!(stop.await, Ok(()), "{overflow:?}");
        assert_eq!(ending(&mut me).await, (ExitReason::Shutdown, kept(overflow)), "{overflow:?}");
    }
}

// G1, B2
#[purlin::test(workers = 2)]
async fn a_full_mailbox_keeps_a_request_to_stop(mut me: Process<Seen>) {
    me.trap_exit(true);
    for overflow in POLICIES {
        let (clerk, open) = busy(&mut me, overflow).await;
        clerk.request_stop(ExitReason::Shutdown);
        overfill(&clerk, overflow).await;
        overfill(&clerk, overflow).await;
        open.send(()).expect("it waits");
        assert_eq!(ending(&mut me).await, (ExitReason::Shutdown, kept(overflow)), "{overflow:?}");
    }
}

// G1, B2
#[purlin::test(workers = 2)]
async fn a_full_mailbox_keeps_the_exit_signal_of_the_parent(mut me: Process<Seen>) {
    me.trap_exit(true);
    for overflow in POLICIES {
        let (clerk, open) = busy(&mut me, overflow).await;
        clerk.pid().exit(ExitReason::Shutdown);
        overfill(&clerk, overflow).await;
        overfill(&clerk, overflow).await;
        open.send(()).expect("it waits");
        assert_eq!(ending(&mut me).await, (ExitReason::Shutdown, kept(overflow)), "{overflow:?}");
    }
}

// G1, B2
#[purlin::test(workers = 2)]
async fn a_server_whose_start_is_cancelled_is_stopped_though_its_mailbox_is_full(
    mut me: Process<Seen>,
) {
    for overflow in POLICIES {
        let (open, gate) = oneshot::channel();
        let start = server::start::<Clerk>((me.pid(), Some(gate)));
        let start = start.options(bounded(overflow)).name("clerk").into_future();
        assert!(matches!(me.receive().await, Seen::Waits));
        let clerk = ServerRef::<Clerk>::whereis("clerk").expect("it is up");
        for _ in 0..2 {
            assert!(clerk.pid().try_send(Mail::Cast(Cast::Work)).is_ok());
        }
        drop(start);
        overfill(&clerk, overflow).await;
        overfill(&clerk, overflow).await;
        open.send(()).expect("it waits");
        assert_eq!(ending(&mut me).await, (ExitReason::Normal, kept(overflow)), "{overflow:?}");
        assert_eq!(clerk.pid().ended().await, ExitReason::Normal);
    }
}

// M4: a request to stop that a server does not reach is counted like another message
#[purlin::test(workers = 2)]
async fn a_request_to_stop_is_counted_if_the_server_has_ended(mut me: Process<Seen>) {
    me.trap_exit(true);
    let (clerk, _open) = busy(&mut me, Overflow::Reject).await;
    let node = purlin::Node::current().expect("a test runs in a process");
    clerk.pid().exit(ExitReason::Kill);
    assert_eq!(clerk.pid().ended().await, ExitReason::Killed);
    comes("its messages are counted", || node.drops().ended == 2).await;
    clerk.request_stop(ExitReason::Normal);
    assert_eq!(node.drops().ended, 3);
    let stop = spawn(async move |_: Process<()>| {
        assert_eq!(clerk.stop().await, Err(purlin::CallError::NoProcess));
    });
    assert_eq!(stop.ended().await, ExitReason::Normal);
    assert_eq!(node.drops().ended, 4);
}
