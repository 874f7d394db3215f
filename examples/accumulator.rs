//! A reactive process, without and with tagged messages.
//!
//! A *reactive* process waits for a message, reacts, and waits again. What it remembers is in its
//! local variables, where nobody else can touch it: here a tally.
//!
//! The first accumulator knows two messages, a number to add and a request for the total. Whoever
//! asks by `call` waits for the answer and does nothing else meanwhile.
//!
//! The second shows how to ask now and look later. The client sends its own pid along, and goes on;
//! the answer is a message among others in its mailbox. To know what it answers, the client makes
//! up a *tag* for each request, and the reply carries it back. `receive!` then takes the reply with
//! the tag that is wanted, past whatever else has come: here past a note that came first, and the
//! second answer before the first.
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

/// What the plain accumulator is sent.
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

/// Tells one request of a client from its others.
type Tag = u32;

/// What the tagged accumulator is sent.
enum Tagged {
    Number(i64),
    Total { client: Pid<Mail>, tag: Tag },
}

/// What its client is sent, by whomever.
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
