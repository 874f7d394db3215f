//! ractor contender of the lab.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output.
//! It is idiomatic ractor code on tokio's default runtime: one actor per process, `cast` and
//! `call_t!`. A task holds the clock, as in a program that starts its actors from `main`. Each
//! group
//! of experiments has a module.

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

use std::process::ExitCode;

use purlin_contender::{
    Copied, Hello, Mode, Moved, Run, Sample, Short, allocator, serve_program, tail_call,
};
use ractor::ActorProcessingErr;
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// ractor does not export its version; a test compares this constant with the lock file.
const RACTOR: &str = "ractor 0.16.5";

/// Result of an experiment.
type Outcome = Result<Sample, ActorProcessingErr>;

fn main() -> ExitCode {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(problem) => {
            eprintln!("contender-ractor: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let hello = Hello::new("ractor", RACTOR)
        .without(&["call-deep", "reply-deep", "selective", "exit-cascade", "signals"])
        .note(format!(
            "tokio's multi-thread runtime of {} workers, all else as by default; default features of ractor",
            runtime.metrics().num_workers()
        ))
        .note("mailboxes have no bound, as always in ractor: the mailbox of a slow receiver grows without limit")
        .note("a loop that only sends yields every 256 messages, as often as purlin's; one that only spawns every 64 actors")
        .note("an actor of exchange sends itself a message for each piece of work; what came before it is received first, all of it")
        .note("Savina programs: a call is call! without a timeout; an actor that awaits it in its handler receives nothing else meanwhile; a loop that only sends consumes tokio's budget")
        .note("a call is call_t! with five seconds; there is no receive by pattern, hence no call-deep, reply-deep and selective; nor are there exit signals that an actor could trap, hence no signals")
        .note("monitor-churn awaits the join handle that spawning gives; link-churn and restart are by supervision events, which also tell of the start of each child")
        .note("a supervisor in ractor is an actor that spawns the child again when it is told; nothing counts the restarts, hence no intensity. A supervisor that ends kills its children without a reason that could be checked, hence no exit-cascade")
        .note("a timer is send_after, which spawns a task, and the abort of its handle; hog sets one for each trip in advance")
        .note("a mailbox does not report its depth: queue_peak is estimated from the count that the sender publishes every 1024 messages")
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
        Run::CallVsSend { mode: Mode::Remote, n, .. } => flow::call_vs_send(n).await,
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
        Run::MonitorChurn { n } => exits::monitor_churn(n).await,
        Run::LinkChurn { n } => exits::link_churn(n).await,
        Run::Restart { n, reps } => exits::restart(n, reps).await,
        Run::Savina(asked) => savina::run(asked).await,
        other => Err(format!("no actor of ractor's runs {}", other.experiment()).into()),
    }
}
