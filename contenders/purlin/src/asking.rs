//! Calls and selective receives, also with many queued messages: `call`, `call-deep` and
//! `selective`.

use std::time::{Duration, Instant};

use purlin::{Process, Reply, consume_budget, receive, spawn};
use purlin_contender::{Delays, Sample, batches};

use crate::messages::Tally;

/// Messages of the called process.
enum Ask {
    Echo(u64, Reply<u64>),
    Tell(Reply<Tally>),
}

/// `call-deep`; `call` is `call-deep` with no queued messages.
pub(crate) async fn call(mut me: Process<u64>, waiting: u64, n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());
    for message in 0..waiting {
        me.pid().send(message);
        consume_budget().await;
    }

    let start = Instant::now();
    let server = spawn(serve);
    for round in 0..n {
        delays.start(round);
        tally.sent += 1;
        let answer = server.call(|reply| Ask::Echo(round, reply)).await;
        tally.received += u64::from(answer == Ok(round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    let served = server.call(Ask::Tell).await.unwrap_or_default();
    Sample::new(elapsed, n, tally.sent + served.sent, tally.received + served.received)
        .with_delays(delays)
        .with("waiting", me.flush().len() as u64)
}

/// Replies to each request, until it is asked for its counts.
async fn serve(mut me: Process<Ask>) {
    let mut tally = Tally::default();
    loop {
        match me.receive().await {
            Ask::Echo(round, reply) => {
                tally.received += 1;
                reply.send(round);
                tally.sent += 1;
            }
            Ask::Tell(reply) => return reply.send(tally),
        }
    }
}

/// Messages in the mailbox of `selective`.
pub(crate) enum Post {
    Other(u64),
    Wanted(u64),
}

pub(crate) async fn selective(mut me: Process<Post>, k: u64, reps: u64) -> Sample {
    let own = me.pid();
    for other in 0..k {
        own.send(Post::Other(other));
        consume_budget().await;
    }
    let mut elapsed = Duration::ZERO;
    let mut tally = Tally::default();
    for batch in batches(reps) {
        for wanted in 0..batch {
            own.send(Post::Wanted(wanted));
            tally.sent += 1;
        }

        let start = Instant::now();
        for _ in 0..batch {
            std::hint::black_box(receive!(me, { Post::Wanted(wanted) => wanted }));
            tally.received += 1;
        }
        elapsed += start.elapsed();
    }
    let others = me.flush();
    let waiting =
        (0..).zip(&others).filter(|(due, post)| matches!(post, Post::Other(n) if n == due));
    Sample::new(elapsed, reps, tally.sent, tally.received).with("waiting", waiting.count() as u64)
}
