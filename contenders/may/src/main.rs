//! may contender of the lab: stackful coroutines and their channels.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output.
//! It is idiomatic may code: coroutines with stacks of the default size, unbounded channels as
//! mailboxes, and join handles for ends. Each group of experiments has a module, and each run has a
//! root coroutine, which holds the clock.

mod acks;
mod calls;
mod channels;
mod exchange;
mod exits;
mod hog;
mod messages;
mod processes;
mod savina;
mod trees;

use std::process::ExitCode;

use may::coroutine::JoinHandle;
use may::go;
use purlin_contender::{
    Copied, Hello, Moved, Run, SERVED, Sample, Short, allocator, serve_program_with_servers,
    tail_call,
};

use messages::YIELD_EVERY;
use processes::spawn_on_one;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// may does not export its version; a test compares this constant with the lock file.
const MAY: &str = "may 0.3.51";

fn main() -> ExitCode {
    match purlin_contender::workers() {
        Ok(None) => {}
        Ok(Some(workers)) => {
            may::config().set_workers(workers.get());
        }
        Err(problem) => {
            eprintln!("contender-may: {problem}");
            return ExitCode::FAILURE;
        }
    }
    let served: Vec<_> = SERVED.into_iter().filter(|id| *id != "ack-sync-or-async").collect();
    let hello = Hello::new("may", MAY)
        .serving(&served)
        .without(&[
            "call-deep",
            "reply-deep",
            "selective",
            "timers",
            "timer-expiry",
            "idle-memory",
            "link-churn",
            "exit-cascade",
            "restart",
            "signals",
        ])
        .note(format!(
            "a scheduler of {} workers, each pinned to a core, as by default; each run has a coroutine of its own",
            may::config().get_workers()
        ))
        .note("a coroutine has may's default stack of 32 KiB and a guard page, which are two mappings; by the kernel's default of 65 530 mappings (vm.max_map_count) 32 thousand coroutines can live, hence no idle-memory, at most 1000 live children in fork-join, and in skynet at most 1000 live nodes over leaves")
        .note("mailboxes are may::sync::spsc::channel if there is one sender, otherwise mpsc::channel, looked into by try_recv before recv; a reply with a timeout is mpsc, because spsc has none")
        .note(format!("a loop that only sends yields every {YIELD_EVERY} messages, exchange and message-moved every {YIELD_EVERY} pieces, bandwidth every {} and message-size after each", exchange::YIELD_COPIES))
        .note("a call is a message with a channel for the reply, and recv_timeout of five seconds; there is no mailbox of several kinds, hence no call-deep, reply-deep and selective")
        .note("a timer is part of a wait and cannot be cancelled without ending that wait, hence no timers and no timer-expiry; in hog a coroutine that sleeps until each trip is due starts it")
        .note("monitor-churn awaits the join handle that spawning gives; there are no links and no supervisors, hence no link-churn, exit-cascade, restart and signals")
        .note("Savina programs: a coroutine per process, which owns its state; a request carries an spsc channel for the reply; no timeouts. A dictionary would usually be a map under a lock, and is one that a coroutine owns")
        .note("servers: a coroutine for each connection, may::net; the number of workers is set when the program starts, hence no ack-sync-or-async")
        .note(allocator(cfg!(feature = "mimalloc")));
    serve_program_with_servers(
        &hello,
        |asked| match asked {
            // WHY: not in a coroutine, which the computing ones would delay.
            Run::Hog(asked) => Ok(hog::hog(asked)),
            _ => root(asked).join().unwrap_or_else(|_| {
                Err(format!("{}: the root coroutine has panicked", asked.experiment()))
            }),
        },
        acks::start,
    )
}

/// Spawns the root coroutine of an experiment.
fn root(asked: Run) -> JoinHandle<Result<Sample, String>> {
    match asked {
        // WHY: all others are spawned on the first worker, and a root on another one would wake it for each.
        Run::SpawnChain { .. }
        | Run::SerialSpawn { .. }
        | Run::ForkJoin { .. }
        | Run::MonitorChurn { .. } => spawn_on_one(move || run(asked)),
        _ => go!(move || run(asked)),
    }
}

/// Runs one experiment.
fn run(asked: Run) -> Result<Sample, String> {
    Ok(match asked {
        Run::CallVsSend { mode, n, .. } => calls::call_vs_send(mode, n),
        Run::TailCall { n, reps } => tail_call(n, reps),
        Run::SpawnChain { n, reps } => processes::spawn_chain(n, reps),
        Run::SerialSpawn { m, total } => processes::serial_spawn(m, total),
        Run::Exchange(asked) => exchange::exchange(asked, YIELD_EVERY, Short::default),
        Run::MessageSize(payload) => {
            exchange::exchange(payload.exchange, 1, || Copied::new(payload.length()))
        }
        Run::Bandwidth(payload) => {
            let copied = || Copied::new(payload.length());
            exchange::exchange(payload.exchange, exchange::YIELD_COPIES, copied)
        }
        Run::MessageMoved(payload) => {
            let asked = payload.exchange;
            exchange::exchange(asked, YIELD_EVERY, || Moved::new(asked.n, payload.length()))
        }
        Run::PingPong { n } => messages::ping_pong(n),
        Run::Throughput { n, .. } => messages::throughput(n),
        Run::FanIn { senders, n, .. } => messages::fan_in(senders, n),
        Run::ThreadRing { processes, n } => messages::thread_ring(processes, n),
        Run::ForkJoin { n, .. } => trees::fork_join(n),
        Run::Skynet { leaves } => trees::skynet(leaves),
        Run::FanOut { processes, n } => messages::fan_out(processes, n),
        Run::Call { n, .. } => messages::call(n),
        Run::Savina(asked) => savina::run(asked),
        Run::MonitorChurn { n } => exits::monitor_churn(n),
        other => return Err(format!("no coroutine of may's runs {}", other.experiment())),
    })
}
