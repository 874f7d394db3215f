//! purlin contender of the lab.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output.
//! It is idiomatic purlin code on a node with default settings. Each group of experiments has a
//! module, and each run has a fresh root process, which holds the clock.

mod acks;
mod asking;
mod calls;
mod exchange;
mod exits;
mod hog;
mod idle;
mod messages;
mod node_calls;
mod nodes;
mod processes;
mod restarts;
mod savina;
mod signals;
mod timers;
mod trees;

use std::process::ExitCode;
use std::sync::mpsc::channel;

use purlin::{Node, Process};
use purlin_contender::{
    Callee, Children, Copied, Hello, Moved, Run, SERVED, Sample, Short, allocator,
    serve_program_with_nodes, tail_call,
};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let node = match node() {
        Ok(node) => node,
        Err(problem) => {
            eprintln!("contender-purlin: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let version = concat!("purlin ", env!("CARGO_PKG_VERSION"));
    let hello = Hello::new("purlin", version)
        .children(&[Children::Ending, Children::Alive])
        .callees(&[Callee::Server, Callee::Process])
        .serving(&SERVED)
        .paired(&["to-purlin", "to-beam", "to-beam@27", "to-beam@29"])
        .note(format!("a node of {} workers, all else as by default", node.workers()))
        .note("a loop that only sends or spawns calls purlin::consume_budget each time round")
        .note("hog: with the default OsPriorities::Lower, which needs no privileges, no thread is real-time; on Linux workers request short time slices, and a thread that computes without yielding, whose processes another thread has taken over, is lowered to a tenth of the others' share (niceness + 10) and made to yield by a signal if others wait too long")
        .note("a timer is Pid::send_after; hog sets one for each trip in advance")
        .note("a call is ServerRef::call of a purlin::server; in the variant process it is Pid::call of a process with a receive loop")
        .note("reply-deep: make_ref, and receive!(me, tag == reference, …) without a timeout; the called process is a receive loop")
        .note("signals: the receiver's inbox goes from one stack to lanes and back by itself, and a request to keep it otherwise is only counted; an exit signal's list is an error of one's own, copied for each")
        .note("servers are those of purlin-ack with its default settings, and a handler that does nothing, or in ack-best a process that calls a function for each message; for a requested number of cores they get a node with that many workers")
        .note("Savina programs: processes with receive, and Pid::call with its default timeout for all that is answered; no receive by pattern waits for a reply")
        .note("with two nodes: messages are an enum that serde makes tuples of; the node is hidden, as by default; dist-call is Cluster::call and a server of its own types")
        .note(allocator(cfg!(feature = "mimalloc")));
    serve_program_with_nodes(
        &hello,
        |asked| run(&node, asked),
        |asked| acks::start(&node, asked),
        nodes::Clustered::new(node.clone()),
    )
}

/// Starts a node with default settings, and with the number of workers of `--workers` if given.
fn node() -> Result<Node, String> {
    let mut builder = Node::builder();
    if let Some(workers) = purlin_contender::workers()? {
        builder = builder.workers(workers.get());
    }
    builder.build().map_err(|error| format!("the node cannot be started: {error}"))
}

/// Runs one experiment.
fn run(node: &Node, asked: Run) -> Result<Sample, String> {
    match asked {
        Run::CallVsSend { mode, n, .. } => root(node, move |me| calls::call_vs_send(me, mode, n)),
        Run::TailCall { n, reps } => {
            root(node, move |_: Process<()>| async move { tail_call(n, reps) })
        }
        Run::SpawnChain { n, reps } => root(node, move |me| processes::spawn_chain(me, n, reps)),
        Run::SerialSpawn { m, total } => {
            root(node, move |me| processes::serial_spawn(me, m, total))
        }
        Run::Exchange(asked) => root(node, move |me| exchange::exchange(me, asked, Short::default)),
        Run::MessageSize(payload) | Run::Bandwidth(payload) => root(node, move |me| {
            exchange::exchange(me, payload.exchange, move || Copied::new(payload.length()))
        }),
        Run::MessageMoved(payload) => {
            let (asked, length) = (payload.exchange, payload.length());
            root(node, move |me| exchange::exchange(me, asked, move || Moved::new(asked.n, length)))
        }
        Run::PingPong { n } => root(node, move |me| messages::ping_pong(me, n)),
        Run::Throughput { n, .. } => root(node, move |me| messages::fan_in(me, 1, n)),
        Run::FanIn { senders, n, .. } => root(node, move |me| messages::fan_in(me, senders, n)),
        Run::ThreadRing { processes, n } => {
            root(node, move |me| messages::thread_ring(me, processes, n))
        }
        Run::ForkJoin { n, children: Children::Ending } => {
            root(node, move |me| trees::fork_join(me, n))
        }
        Run::ForkJoin { n, children: Children::Alive } => {
            root(node, move |me| trees::fork_join_alive(me, n))
        }
        Run::Skynet { leaves } => root(node, move |me| trees::skynet(me, leaves)),
        Run::FanOut { processes, n } => root(node, move |me| messages::fan_out(me, processes, n)),
        Run::Call { n, callee: Callee::Server } => root(node, move |me| asking::call(me, 0, n)),
        Run::Call { n, callee: Callee::Process } => {
            root(node, move |me| asking::call_process(me, n))
        }
        Run::CallDeep { waiting, n } => root(node, move |me| asking::call(me, waiting, n)),
        Run::ReplyDeep { waiting, n } => root(node, move |me| asking::reply(me, waiting, n)),
        Run::Selective { k, reps } => root(node, move |me| asking::selective(me, k, reps)),
        Run::Timers(asked) => root(node, move |me| timers::timers(me, asked)),
        Run::TimerExpiry(asked) => root(node, move |me| timers::timer_expiry(me, asked)),
        Run::IdleMemory { n } => root(node, move |me| idle::idle_memory(me, n)),
        Run::Hog(asked) => Ok(hog::hog(node, asked)),
        Run::MonitorChurn { n } => root(node, move |me| exits::monitor_churn(me, n)),
        Run::LinkChurn { n } => root(node, move |me| exits::link_churn(me, n)),
        Run::ExitCascade { n, reps } => root(node, move |me| exits::exit_cascade(me, n, reps)),
        Run::Restart { n, reps } => root(node, move |me| restarts::restart(me, n, reps)),
        Run::Signals(asked) => root(node, move |me| signals::signals(me, asked)),
        Run::Savina(asked) => savina::run(node, asked),
    }
}

/// Runs a root process to its end. If it fails, only its sample is lost.
fn root<M, F, Fut>(node: &Node, function: F) -> Result<Sample, String>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future<Output = Sample> + Send + 'static,
{
    let (tx, rx) = channel();
    let pid = node.spawn(move |me| async move {
        let _ = tx.send(function(me).await);
    });
    rx.recv().map_err(|_| format!("the root process {pid} has failed"))
}
