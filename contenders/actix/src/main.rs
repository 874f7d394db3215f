//! actix contender of the lab.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output.
//! It is idiomatic actix code: one actor per process, `do_send` and `send`, all on one arbiter,
//! because `start` uses the current one, except in `spread`. A task of that arbiter holds the clock,
//! because `main` waits for the lab. Each group of experiments has a module.

mod asking;
mod calls;
mod exchange;
mod flow;
mod hog;
mod idle;
mod processes;
mod ring;
mod savina;
mod timers;
mod trees;

use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc::channel;

use actix::{Arbiter, System};
use purlin_contender::{
    Copied, Hello, Mode, Moved, Run, Sample, Short, allocator, serve_program, tail_call,
};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// actix does not export its version; a test compares this constant with the lock file.
const ACTIX: &str = "actix 0.13.5";

/// Result of an experiment.
type Outcome = Result<Sample, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    if let Some(word) = std::env::args().nth(1) {
        eprintln!("contender-actix: {word:?} is no option; it has one arbiter and takes none");
        return ExitCode::FAILURE;
    }
    // The arbiter belongs to the `System` of this thread, which must outlive it.
    let _system = System::new();
    let arbiter = Arbiter::new();
    let hello = Hello::new("actix", ACTIX)
        .without(&["call-deep", "reply-deep", "selective", "monitor-churn", "link-churn", "exit-cascade", "restart", "signals"])
        .note("one arbiter, that is one thread, except in spread: an actor stays where it was started, and starting it elsewhere is left to its user")
        .note("Savina programs: a server that answers later sends a message to the address of the asking actor, all others are asked with send; spread has one more arbiter per core for its computing actors")
        .note("mailboxes have actix's default bound of 16, which do_send ignores and send respects: with do_send the mailbox of a slow receiver grows without limit")
        .note("a loop that only sends or starts actors yields every 256 messages or actors, as often as purlin's")
        .note("an actor of exchange notifies itself of each piece of work; it goes on as long as it has something to do, so that most messages wait until all pieces are done")
        .note("a call is send with a timeout of five seconds; there is no receive by pattern, hence no call-deep, reply-deep and selective")
        .note("there are no monitors and no links, hence no monitor-churn, no link-churn, no exit-cascade and no exit signals for signals")
        .note("actix's Supervisor begins an actor again that has stopped its context, the same value and without an error; nothing is restarted because of an error, and a panic ends the arbiter. Hence no restart")
        .note("a timer is a task that sleeps and sends, and the abort of its handle: an actor polls all timers of notify_later after each turn and searches them to cancel one. hog sets one of notify_later for each trip in advance")
        .note("a mailbox does not report its depth: queue_peak is estimated from the count that the sender publishes every 1024 messages")
        .note("an actor ends when its last address is dropped; the actors of these experiments end in this way where possible")
        .note(allocator(cfg!(feature = "mimalloc")));
    serve_program(&hello, |asked| {
        let ran = match asked {
            // WHY: not from a task, which the computing actors would delay.
            Run::Hog(asked) => hog::hog(&arbiter, asked),
            _ => {
                let (tx, rx) = channel();
                arbiter.spawn_fn(move || {
                    actix::spawn(async move {
                        let _ = tx.send(run(asked).await);
                    });
                });
                rx.recv().unwrap_or_else(|_| Err("the task has failed".into()))
            }
        };
        ran.map_err(|error| format!("{}: {error}", asked.experiment()))
    })
}

/// Runs one experiment.
async fn run(asked: Run) -> Outcome {
    match asked {
        Run::CallVsSend { mode: Mode::Local, n, .. } => Ok(tail_call(n, 1)),
        Run::CallVsSend { mode: Mode::Remote, n, .. } => calls::call_vs_send(n).await,
        Run::TailCall { n, reps } => Ok(tail_call(n, reps)),
        Run::SpawnChain { n, reps } => processes::spawn_chain(n, reps).await,
        Run::SerialSpawn { m, total } => processes::serial_spawn(m, total).await,
        Run::Exchange(asked) => exchange::exchange(asked, Short::default).await,
        Run::MessageSize(payload) | Run::Bandwidth(payload) => {
            exchange::exchange(payload.exchange, || Copied::new(payload.length())).await
        }
        Run::MessageMoved(payload) => {
            let asked = payload.exchange;
            exchange::exchange(asked, || Moved::new(asked.n, payload.length())).await
        }
        Run::PingPong { n } => asking::ping_pong(n).await,
        Run::Throughput { n, .. } => flow::fan_in(1, n).await,
        Run::FanIn { senders, n, .. } => flow::fan_in(senders, n).await,
        Run::FanOut { processes, n } => flow::fan_out(processes, n).await,
        Run::ThreadRing { processes, n } => ring::thread_ring(processes, n).await,
        Run::ForkJoin { n, .. } => trees::fork_join(n).await,
        Run::Skynet { leaves } => trees::skynet(leaves).await,
        Run::Call { n, .. } => asking::call(n).await,
        Run::Timers(asked) => timers::timers(asked).await,
        Run::TimerExpiry(asked) => timers::timer_expiry(asked).await,
        Run::IdleMemory { n } => idle::idle_memory(n).await,
        Run::Savina(asked) => savina::run(asked).await,
        other => Err(format!("no actor of actix's runs {}", other.experiment()).into()),
    }
}
