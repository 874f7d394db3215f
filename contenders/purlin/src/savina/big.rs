//! `big`: processes that ping each other at random.

use std::sync::Arc;
use std::time::Instant;

use purlin::{Pid, Process, Reply, receive, spawn};
use purlin_contender::{DrawStream, Sample, Tally};

/// Messages of a member.
enum ToMember {
    /// All members, in order. Pings of others may arrive before it.
    Begin(Arc<[Pid<ToMember>]>),
    /// A ping, with the number of its sender.
    Ping(usize),
    Pong,
    /// Report and end.
    End(Reply<Tally>),
}

/// Message of the root: a member has all its pongs.
pub(crate) struct Done;

pub(crate) async fn big(mut me: Process<Done>, processes: u64, n: u64) -> Sample {
    let start = Instant::now();
    let join = |number| {
        let root = me.pid();
        spawn(move |me| member(me, number, n, root))
    };
    let members: Arc<[_]> = (0..processes as usize).map(join).collect();
    for member in members.iter() {
        member.send(ToMember::Begin(Arc::clone(&members)));
    }
    for _ in 0..processes {
        me.receive().await;
    }
    let elapsed = start.elapsed();

    let (mut sent, mut received) = (0, 0);
    for member in members.iter() {
        let tally = member.call(ToMember::End).await.unwrap_or_default();
        sent += tally.sent;
        received += tally.received;
    }
    Sample::new(elapsed, processes * n, sent, received)
}

async fn member(mut me: Process<ToMember>, number: usize, n: u64, root: Pid<Done>) {
    let members = receive!(me, { ToMember::Begin(members) => members });
    let (mut tally, mut draw, mut left) = (Tally::default(), DrawStream::new(number as u64), n);
    let mut ping_or_report = |tally: &mut Tally| {
        if left == 0 {
            return root.send(Done);
        }
        left -= 1;
        members[draw.below(members.len() as u64) as usize].send(ToMember::Ping(number));
        tally.sent += 1;
    };
    ping_or_report(&mut tally);
    loop {
        match me.receive().await {
            ToMember::Ping(from) => {
                tally.received += 1;
                members[from].send(ToMember::Pong);
                tally.sent += 1;
            }
            ToMember::Pong => {
                tally.received += 1;
                ping_or_report(&mut tally);
            }
            ToMember::End(reply) => return reply.send(tally),
            ToMember::Begin(_) => {}
        }
    }
}
