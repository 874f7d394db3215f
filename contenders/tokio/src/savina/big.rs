//! `big`: tasks that ping each other at random.

use std::sync::Arc;
use std::time::Instant;

use purlin_contender::{DrawStream, Sample, Tally};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Messages of a member.
enum ToMember {
    /// A ping, with the number of its sender.
    Ping(usize),
    Pong,
    End,
}

/// The channels of all members.
type Members = Arc<[UnboundedSender<ToMember>]>;

pub(crate) async fn big(processes: u64, n: u64) -> Sample {
    let start = Instant::now();
    let (root, mut done) = unbounded_channel();
    let (members, mailboxes): (Vec<_>, Vec<_>) =
        (0..processes).map(|_| unbounded_channel()).unzip();
    let members: Members = members.into();
    let tasks: Vec<_> = (0..)
        .zip(mailboxes)
        .map(|(number, mailbox)| {
            tokio::spawn(member(mailbox, number, n, Arc::clone(&members), root.clone()))
        })
        .collect();
    for _ in 0..processes {
        done.recv().await;
    }
    let elapsed = start.elapsed();

    for member in members.iter() {
        // Fails only if the member has failed.
        let _ = member.send(ToMember::End);
    }
    let mut tally = Tally::default();
    for task in tasks {
        tally += task.await.unwrap_or_default();
    }
    Sample::new(elapsed, processes * n, tally.sent, tally.received)
}

async fn member(
    mut mailbox: UnboundedReceiver<ToMember>,
    number: usize,
    n: u64,
    members: Members,
    root: UnboundedSender<()>,
) -> Tally {
    let (mut tally, mut draw, mut left) = (Tally::default(), DrawStream::new(number as u64), n);
    let mut ping_or_report = |tally: &mut Tally| {
        if left == 0 {
            let _ = root.send(());
            return;
        }
        left -= 1;
        let partner = draw.below(members.len() as u64) as usize;
        tally.sent += u64::from(members[partner].send(ToMember::Ping(number)).is_ok());
    };
    ping_or_report(&mut tally);
    while let Some(message) = mailbox.recv().await {
        match message {
            ToMember::Ping(from) => {
                tally.received += 1;
                tally.sent += u64::from(members[from].send(ToMember::Pong).is_ok());
            }
            ToMember::Pong => {
                tally.received += 1;
                ping_or_report(&mut tally);
            }
            ToMember::End => break,
        }
    }
    tally
}
