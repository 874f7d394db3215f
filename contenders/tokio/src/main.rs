//! tokio contender of the lab: tasks and channels.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output.
//! It is idiomatic tokio code: the default runtime, unbounded channels as mailboxes, and `oneshot`
//! channels or join handles for single replies. Each group of experiments has a module.

mod acks;
mod calls;
mod exchange;
mod exits;
mod flow;
mod hog;
mod idle;
mod messages;
mod processes;
mod savina;
mod timers;
mod trees;

use std::num::NonZeroUsize;
use std::process::ExitCode;

use purlin_contender::{
    Children, Copied, Flow, Hello, Moved, Run, SERVED, Sample, Short, allocator,
    serve_program_with_servers, tail_call,
};
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// tokio does not export its version; a test compares this constant with the lock file.
const TOKIO: &str = "tokio 1.54.1";

fn main() -> ExitCode {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(problem) => {
            eprintln!("contender-tokio: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let hello = Hello::new("tokio", TOKIO)
        .serving(&SERVED)
        .flows(&[Flow::Unbounded, Flow::Bounded, Flow::ReceiveMany])
        .children(&[Children::Ending, Children::Alive])
        .without(&["call-deep", "reply-deep", "selective", "link-churn", "exit-cascade", "restart", "signals"])
        .note(format!(
            "multi-thread runtime of {} workers, all else as by default; every experiment runs in a spawned task",
            runtime.metrics().num_workers()
        ))
        .note("mailboxes are tokio::sync::mpsc::unbounded_channel, received one by one; in the variant bounded they are channel(1024), in recv-many up to 256 messages are received together")
        .note("a loop that only sends yields every 64 messages; one that only spawns yields every 64 tasks on one worker and never on several, where others steal, the faster way each; exchange calls consume_budget after each piece of work")
        .note("fork-join: tasks report through their join handles; in the variant alive each waits on a oneshot channel until all are spawned, the fastest of the synchronisations tried")
        .note("a call is a message with a oneshot channel, in a select with one tokio::time::Sleep that is reset for each call; there is no mailbox of several kinds, hence no call-deep, reply-deep and selective")
        .note("monitor-churn awaits the join handle that spawning gives; there are no links and no supervisors, hence no link-churn, no exit-cascade, no restart and no signals")
        .note("timers, timer-expiry: a DelayQueue of tokio-util, whose owner sets, removes and receives the timers; it expires them up to a millisecond later than a task that sleeps, and in less time; hog: an interval starts the trips")
        .note("Savina programs: a task per process, which owns its state and receives requests with a oneshot channel for the reply; no timeouts. A dictionary would usually be a map under a lock, and is one that a task owns")
        .note("servers: a task for each connection, tokio::net and BytesMut; TCP_NODELAY; one write for each ack; for a requested number of cores they get a multi-thread runtime with that many workers")
        .note(allocator(cfg!(feature = "mimalloc")));
    // WHY: in a spawned task and not in `block_on`, so that the task that holds the clock is an
    // ordinary task and runs on a worker.
    serve_program_with_servers(
        &hello,
        |asked| match asked {
            // WHY: not in a task, which the computing tasks would delay.
            Run::Hog(asked) => Ok(hog::hog(&runtime, asked)),
            _ => runtime.block_on(runtime.spawn(run(asked))).unwrap_or_else(|error| {
                Err(format!("{}: the task has failed: {error}", asked.experiment()))
            }),
        },
        |asked| acks::start(&runtime, asked),
    )
}

/// Builds tokio's default runtime, with the number of workers of `--workers` if given.
fn runtime() -> Result<Runtime, String> {
    runtime_of(purlin_contender::workers()?.map(NonZeroUsize::get))
}

/// Builds tokio's multi-thread runtime with this number of workers, by default one per core.
fn runtime_of(workers: Option<usize>) -> Result<Runtime, String> {
    let mut builder = Builder::new_multi_thread();
    if let Some(workers) = workers {
        builder.worker_threads(workers);
    }
    builder
        .enable_all()
        .build()
        .map_err(|error| format!("tokio's runtime cannot be started: {error}"))
}

/// Runs one experiment.
async fn run(asked: Run) -> Result<Sample, String> {
    Ok(match asked {
        Run::CallVsSend { mode, n, flow } => calls::call_vs_send(mode, n, flow).await,
        Run::TailCall { n, reps } => tail_call(n, reps),
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
        Run::PingPong { n } => messages::ping_pong(n).await,
        Run::Throughput { n, flow } => flow::fan_in(1, n, flow).await,
        Run::FanIn { senders, n, flow } => flow::fan_in(senders, n, flow).await,
        Run::ThreadRing { processes, n } => messages::thread_ring(processes, n).await,
        Run::ForkJoin { n, children: Children::Ending } => trees::fork_join(n).await,
        Run::ForkJoin { n, children: Children::Alive } => trees::fork_join_alive(n).await,
        Run::Skynet { leaves } => trees::skynet(leaves).await,
        Run::FanOut { processes, n } => messages::fan_out(processes, n).await,
        Run::Call { n, .. } => messages::call(n).await,
        Run::Timers(asked) => timers::timers(asked).await,
        Run::TimerExpiry(asked) => timers::timer_expiry(asked).await,
        Run::IdleMemory { n } => idle::idle_memory(n).await,
        Run::MonitorChurn { n } => exits::monitor_churn(n).await,
        Run::Savina(asked) => savina::run(asked).await,
        other => return Err(format!("no task of tokio's runs {}", other.experiment())),
    })
}
