//! Messages and exit signals from many senders to one receiver: `signals`.

use std::hint::black_box;
use std::time::{Duration, Instant};
use std::{error, fmt};

use purlin::{Exit, ExitReason, Message, Pid, Process, consume_budget, receive, spawn};
use purlin_contender::{
    Draw, Draws, InFlightLimit, Receipts, Received, Sample, Sent, Signals, Stint, report,
};

/// Messages of the receiver.
#[derive(Message)]
enum Signal {
    Message(List),
    #[from]
    Exit(Exit),
    Switch,
    /// End marker of one sender.
    Last,
}

/// Payload of a signal. It implements `Error` so that it can be an exit reason.
#[derive(Clone, Debug)]
struct List(Vec<u64>);

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl error::Error for List {}

/// Messages of a sender.
enum ToSender {
    Start(Instant),
    Stop,
}

/// Messages of the root.
pub(crate) enum ToRoot {
    Ready,
    Rested,
    Sent(Sent),
    Received(Received),
}

pub(crate) async fn signals(mut me: Process<ToRoot>, asked: Signals) -> Sample {
    let room = InFlightLimit::new(asked.room);
    let (root, seen) = (me.pid(), room.clone());
    let receiver = spawn(move |me| receive_all(me, asked.senders, seen, root));
    let mut senders = Vec::new();
    for number in 0..asked.senders {
        let (root, room, receiver) = (me.pid(), room.clone(), receiver.clone());
        senders.push(spawn(move |me| send_all(me, asked, number, room, receiver, root)));
    }
    // No exit signal may arrive before the receiver traps exits.
    for _ in 0..=asked.senders {
        receive!(me, { ToRoot::Ready => () });
    }
    me.pid().send_after(Duration::from_millis(asked.rest_ms), ToRoot::Rested);
    receive!(me, { ToRoot::Rested => () });

    let time = Duration::from_millis(asked.ms);
    let due = Instant::now() + time;
    for sender in &senders {
        sender.send(ToSender::Start(due));
        sender.send_after(time, ToSender::Stop);
    }
    let mut accounts = Vec::new();
    for _ in &senders {
        accounts.push(receive!(me, { ToRoot::Sent(account) => account }));
    }
    let reported_at = Instant::now();
    let received = receive!(me, { ToRoot::Received(received) => received });
    report(&asked, &accounts, reported_at, &received)
}

/// Sends signals; checks for the stop message before each of them.
async fn send_all(
    mut me: Process<ToSender>,
    asked: Signals,
    number: u64,
    room: InFlightLimit,
    receiver: Pid<Signal>,
    root: Pid<ToRoot>,
) {
    let list = List((1..=asked.s).collect());
    let mut draws = Draws::new(&asked, number);
    root.send(ToRoot::Ready);
    let due = receive!(me, { ToSender::Start(due) => due });

    let mut stint = Stint::begin(due, room);
    while me.try_receive().is_none() {
        match draws.draw() {
            Draw::Message => receiver.send(Signal::Message(list.clone())),
            Draw::Exit => receiver.exit(ExitReason::error(list.clone())),
            Draw::Switch => receiver.send(Signal::Switch),
        }
        if !stint.sent() {
            break;
        }
        consume_budget().await;
    }
    root.send(ToRoot::Sent(stint.end()));
    receiver.send(Signal::Last);
}

/// Traps exits and counts all signals until every sender has sent [`Signal::Last`].
async fn receive_all(
    mut me: Process<Signal>,
    senders: u64,
    room: InFlightLimit,
    root: Pid<ToRoot>,
) {
    me.trap_exit(true);
    root.send(ToRoot::Ready);
    let (mut receipts, mut sending) = (Receipts::new(room), senders);
    while sending > 0 {
        match me.receive().await {
            Signal::Message(list) => {
                black_box(list);
                receipts.message();
            }
            Signal::Exit(exit) => {
                black_box(exit);
                receipts.exit();
            }
            Signal::Switch => receipts.switch(),
            Signal::Last => sending -= 1,
        }
    }
    root.send(ToRoot::Received(receipts.end()));
}
