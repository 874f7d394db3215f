//! A reactive process, without and with tagged messages.
//!
//! A *reactive* process waits for a message, handles it, and waits again. Its state is in local
//! variables, which no other process can access: here a tally.
//!
//! The first accumulator handles two messages: a number to add, and a request for the total. A
//! client that uses `call` waits for the reply and does nothing else meanwhile.
//!
//! The second shows an asynchronous request. The client sends its pid with the request and
//! continues; the reply is an ordinary message in its mailbox. To match replies to requests, the
//! client gives each request a *tag*, which the reply repeats. `receive!` then takes the reply with
//! the wanted tag and skips all other messages: here a note that arrived earlier, and the reply to
//! the first request while the client waits for the second.
//!
//! Run it with `cargo run --example accumulator`. It prints:
//!
//! ```text
//! plain: the total is 10
//! tagged: the reply with tag 2 says 100
//! tagged: the reply with tag 1 says 30
//! tagged: the note that was passed over says "lunch at noon"
//! ```

use purlin::{CallError, Pid, Process, Reply, receive, spawn};

/// Messages to the plain accumulator.
enum Plain {
    Number(i64),
    Total(Reply<i64>),
}

async fn plain(mut me: Process<Plain>) {
    let mut tally = 0;
    loop {
        match me.receive().await {
            Plain::Number(n) => tally += n,
            Plain::Total(reply) => reply.send(tally),
        }
    }
}

/// Identifies a request of a client.
type Tag = u32;

/// Messages to the tagged accumulator.
enum Tagged {
    Number(i64),
    Total { client: Pid<Mail>, tag: Tag },
}

/// Messages to its client.
enum Mail {
    Note(&'static str),
    Total { tag: Tag, tally: i64 },
}

async fn tagged(mut me: Process<Tagged>) {
    let mut tally = 0;
    loop {
        match me.receive().await {
            Tagged::Number(n) => tally += n,
            Tagged::Total { client, tag } => client.send(Mail::Total { tag, tally }),
        }
    }
}

#[purlin::main]
async fn main(mut me: Process<Mail>) -> Result<(), CallError> {
    let accumulator = spawn(plain);
    for n in 1..=4 {
        accumulator.send(Plain::Number(n));
    }
    let total = accumulator.call(Plain::Total).await?;
    println!("plain: the total is {total}");

    me.pid().send(Mail::Note("lunch at noon"));
    let accumulator = spawn(tagged);
    for (n, tag) in [(30, 1), (70, 2)] {
        let client = me.pid();
        accumulator.send(Tagged::Number(n));
        accumulator.send(Tagged::Total { client, tag });
    }
    for wanted in [2, 1] {
        let total = receive!(me, { Mail::Total { tag, tally } if tag == wanted => tally });
        println!("tagged: the reply with tag {wanted} says {total}");
    }
    let note = receive!(me, { Mail::Note(text) => text });
    println!("tagged: the note that was passed over says {note:?}");
    Ok(())
}
