//! kameo contender of the lab.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output.
//! It is idiomatic kameo code on tokio's default runtime: one actor per process, `tell` and `ask`.
//! A task holds the clock, as in a program that starts its actors from `main`. Each group of
//! experiments has a module.

mod asking;
mod exchange;
mod exits;
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

use purlin_contender::{
    Copied, Flow, Hello, Mode, Moved, Run, Sample, Short, allocator, serve_program, tail_call,
};
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// kameo does not export its version; a test compares this constant with the lock file.
const KAMEO: &str = "kameo 0.22.2";

/// Result of an experiment.
type Outcome = Result<Sample, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(problem) => {
            eprintln!("contender-kameo: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let hello = Hello::new("kameo", KAMEO)
        .flows(&[Flow::Bounded, Flow::Unbounded])
        .without(&["call-deep", "reply-deep", "selective", "exit-cascade", "signals"])
        .note(format!(
            "tokio's multi-thread runtime of {} workers, all else as by default; default features of kameo",
            runtime.metrics().num_workers()
        ))
        .note("mailboxes have kameo's default bound of 64 messages, at which a sender waits; there is no bound in the variant unbounded, in fork-join, and in exchange, message-size, bandwidth, message-moved, hog, banking and big, where two actors that send to each other from their handlers would deadlock")
        .note("a loop that only sends awaits each tell, and yields every 256 messages if the mailbox has no bound; a loop that only spawns yields every 64 actors")
        .note("an actor of exchange sends itself a message for each piece of work; what came before it is received first, all of it")
        .note("Savina programs: a call is ask without a timeout; an actor that awaits it in its handler receives nothing else meanwhile")
        .note("a call is ask with a reply timeout of five seconds; there is no receive by pattern, hence no call-deep, reply-deep and selective; nor are there exit signals that an actor could trap, hence no signals")
        .note("monitor-churn awaits the join handle of a prepared actor, which tells the reason; link-churn is by on_link_died, restart by kameo's supervision of a permanent child, whose reference stays the same")
        .note("the exit reason of a linked actor wraps the reason that it received and differs from it; hence no exit-cascade")
        .note("an actor ends when its last reference is dropped; the actors of these experiments end in this way where possible")
        .note("a timer is send_after, which spawns a task, and the abort of its handle; hog sets one for each trip in advance")
        .note(allocator(cfg!(feature = "mimalloc")));
    serve_program(&hello, |asked| {
        let ran = match asked {
            // WHY: not in a task, which the computing actors would delay.
            Run::Hog(asked) => hog::hog(&runtime, asked),
            // WHY: in a spawned task, so that the task that holds the clock runs on a worker.
            _ => runtime
                .block_on(runtime.spawn(run(asked)))
                .unwrap_or_else(|error| Err(error.into())),
        };
        ran.map_err(|error| format!("{}: {error}", asked.experiment()))
    })
}

/// Builds tokio's default runtime, with the number of workers of `--workers` if given.
fn runtime() -> Result<Runtime, String> {
    let mut builder = Builder::new_multi_thread();
    if let Some(workers) = purlin_contender::workers()? {
        builder.worker_threads(workers.get());
    }
    builder
        .enable_all()
        .build()
        .map_err(|error| format!("tokio's runtime cannot be started: {error}"))
}

/// Runs one experiment.
async fn run(asked: Run) -> Outcome {
    match asked {
        Run::CallVsSend { mode: Mode::Local, n, .. } => Ok(tail_call(n, 1)),
        Run::CallVsSend { mode: Mode::Remote, n, flow } => flow::call_vs_send(n, flow).await,
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
        Run::Throughput { n, flow } => flow::fan_in(1, n, flow).await,
        Run::FanIn { senders, n, flow } => flow::fan_in(senders, n, flow).await,
        Run::FanOut { processes, n } => flow::fan_out(processes, n).await,
        Run::ThreadRing { processes, n } => ring::thread_ring(processes, n).await,
        Run::ForkJoin { n, .. } => trees::fork_join(n).await,
        Run::Skynet { leaves } => trees::skynet(leaves).await,
        Run::Call { n, .. } => asking::call(n).await,
        Run::Timers(asked) => timers::timers(asked).await,
        Run::TimerExpiry(asked) => timers::timer_expiry(asked).await,
        Run::IdleMemory { n } => idle::idle_memory(n).await,
        Run::MonitorChurn { n } => exits::monitor_churn(n).await,
        Run::LinkChurn { n } => exits::link_churn(n).await,
        Run::Restart { n, reps } => exits::restart(n, reps).await,
        Run::Savina(asked) => savina::run(asked).await,
        other => Err(format!("no actor of kameo's runs {}", other.experiment()).into()),
    }
}
