//! Calls and selective receives, also with many queued messages: `call`, `call-deep`, `reply-deep`
//! and `selective`.

use std::time::{Duration, Instant};

use purlin::server::{self, Init, Mail, Next, Server};
use purlin::{Pid, Process, Reference, Reply, consume_budget, receive, spawn};
use purlin_contender::{Delays, Sample, Tally, batches};

/// Server that replies to each call with its argument.
#[derive(Debug)]
struct Echo(Tally);

/// Calls of the server, and messages of the process in the variant `process`.
#[derive(Debug)]
enum Ask {
    Echo(u64, Reply<u64>),
    Tell(Reply<Tally>),
}

/// Replies to a request and counts it.
fn answer(tally: &mut Tally, ask: Ask) {
    match ask {
        Ask::Echo(round, reply) => {
            tally.received += 1;
            reply.send(round);
            tally.sent += 1;
        }
        Ask::Tell(reply) => reply.send(*tally),
    }
}

impl Server for Echo {
    type Args = ();
    type Call = Ask;
    type Cast = ();
    type Info = ();
    type Continue = ();

    async fn init((): (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Echo(Tally::default())))
    }

    async fn handle_call(
        &mut self,
        ask: Ask,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        answer(&mut self.0, ask);
        Ok(Next::Wait)
    }
}

/// `call-deep`; `call` is `call-deep` with no queued messages.
pub(crate) async fn call(mut me: Process<u64>, waiting: u64, n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());
    for message in 0..waiting {
        me.pid().send(message);
        consume_budget().await;
    }

    let start = Instant::now();
    let server = server::start_link::<Echo>(&me, ()).await.expect("its init cannot fail");
    for round in 0..n {
        delays.start(round);
        tally.sent += 1;
        let answer = server.call(|reply| Ask::Echo(round, reply)).await;
        tally.received += u64::from(answer.is_ok_and(|back| back == round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    let served = server.call(Ask::Tell).await.unwrap_or_default();
    server.stop().await.expect("it lives");
    Sample::new(elapsed, n, tally.sent + served.sent, tally.received + served.received)
        .with_delays(delays)
        .with("waiting", me.flush().len() as u64)
}

/// `call` in the variant `process`.
pub(crate) async fn call_process(_: Process<()>, n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let called = spawn(serve);
    for round in 0..n {
        delays.start(round);
        tally.sent += 1;
        let answer = called.call(|reply| Ask::Echo(round, reply)).await;
        tally.received += u64::from(answer.is_ok_and(|back| back == round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    let served = called.call(Ask::Tell).await.unwrap_or_default();
    Sample::new(elapsed, n, tally.sent + served.sent, tally.received + served.received)
        .with_delays(delays)
}

/// Replies to each request, until it is asked for its counts.
async fn serve(mut me: Process<Ask>) {
    let mut tally = Tally::default();
    loop {
        let ask = me.receive().await;
        let last = matches!(ask, Ask::Tell(_));
        answer(&mut tally, ask);
        if last {
            return;
        }
    }
}

/// Messages in the mailbox of `reply-deep`.
pub(crate) enum Inbox {
    Waiting(u64),
    Echo(Reference, u64),
}

/// Messages of the called process in `reply-deep`.
enum Request {
    Echo(Reference, u64, Pid<Inbox>),
    Tell(Reply<Tally>),
}

pub(crate) async fn reply(mut me: Process<Inbox>, waiting: u64, n: u64) -> Sample {
    for message in 0..waiting {
        me.pid().send(Inbox::Waiting(message));
        consume_budget().await;
    }
    // Takes the messages out of the inbox before the clock starts.
    me.make_ref();
    let mut tally = Tally::default();

    let start = Instant::now();
    let called = spawn(echo);
    for round in 0..n {
        let request = me.make_ref();
        called.send(Request::Echo(request, round, me.pid()));
        tally.sent += 1;
        let back = receive!(me, tag == request, { Inbox::Echo(tag, number) => number });
        tally.received += u64::from(back == round);
    }
    let elapsed = start.elapsed();

    let served = called.call(Request::Tell).await.unwrap_or_default();
    let others = me.flush();
    let waiting = (0..)
        .zip(&others)
        .filter(|(due, message)| matches!(message, Inbox::Waiting(number) if number == due));
    Sample::new(elapsed, n, tally.sent + served.sent, tally.received + served.received)
        .with("waiting", waiting.count() as u64)
}

/// Sends each request's number back with its reference, until it is asked for its counts.
async fn echo(mut me: Process<Request>) {
    let mut tally = Tally::default();
    loop {
        match me.receive().await {
            Request::Echo(reference, number, asker) => {
                tally.received += 1;
                asker.send(Inbox::Echo(reference, number));
                tally.sent += 1;
            }
            Request::Tell(reply) => return reply.send(tally),
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
