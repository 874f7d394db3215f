//! Load client for the experiments with servers over TCP, the same for all contenders, and epmd for
//! the experiments with two nodes.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output
//! but is not a contender. A run is one round of `purlin_ack::load`: connect, send everything,
//! verify each reply, close. The clock runs from the first write to the last reply. Each connection
//! has a dedicated blocking thread. epmd starts on the first request for its address and has a
//! dedicated thread.

use std::net::SocketAddr;
use std::process::ExitCode;

use purlin_ack::load::{Load, Plan};
use purlin_ack::strategy::{Strategy, UnknownStrategy};
use purlin_contender::{CONNECTIONS_MAX, EXPERIMENTS, Hello, SERVED, Sample, load_program};
use purlin_dist::epmd::Server;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(word) = std::env::args().nth(1) {
        eprintln!("contender-load: {word:?} is no option; it takes none");
        return ExitCode::FAILURE;
    }
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(CONNECTIONS_MAX as usize)
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("contender-load: the runtime cannot be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let hello = Hello::new("load", concat!("purlin-ack ", env!("CARGO_PKG_VERSION")))
        .without(&EXPERIMENTS)
        .serving(&SERVED)
        .note("it sends, and serves nothing");
    let mut epmd = None;
    load_program(&hello, |asked| run(&runtime, asked), || address(&mut epmd))
}

/// Returns the address of epmd, which the first call starts.
fn address(epmd: &mut Option<(Runtime, Server)>) -> Result<SocketAddr, String> {
    let running = match epmd {
        Some(running) => running,
        none => {
            let started = Builder::new_multi_thread().worker_threads(1).enable_all().build();
            let runtime = started.map_err(|error| error.to_string())?;
            let server = runtime.block_on(Server::start("127.0.0.1:0"));
            none.insert((runtime, server.map_err(|error| error.to_string())?))
        }
    };
    Ok(running.1.address())
}

/// Runs one round.
fn run(runtime: &Runtime, asked: purlin_contender::Load) -> Result<Sample, String> {
    let plan = plan(asked)?;
    runtime.block_on(async {
        let mut load = Load::connect(plan).await.map_err(|error| error.to_string())?;
        let round = load.round().await.map_err(|error| error.to_string())?;
        load.finish().await.map_err(|error| error.to_string())?;
        let round = round.ok_or("there was no round")?;
        let found = load.summary();
        let received = found.answered.messages - found.answered.refused;
        let at = |share| found.latency.value_at_quantile(share);
        Ok(Sample::new(round.time, round.messages, asked.all(), received)
            .with("p50_ns", at(0.5))
            .with("p90_ns", at(0.9))
            .with("p99_ns", at(0.99))
            .with("max_ns", found.latency.max()))
    })
}

/// Returns the preset of the strategy with the requested values in place.
fn plan(asked: purlin_contender::Load) -> Result<Plan, String> {
    let strategy: Strategy =
        asked.strategy.parse().map_err(|error: UnknownStrategy| error.to_string())?;
    let fits = |number: u64| u32::try_from(number).map_err(|error| error.to_string());
    Ok(Plan {
        address: asked.address.to_string(),
        connections: fits(asked.connections)?,
        rounds: 1,
        messages: asked.messages,
        size: fits(asked.size)?,
        batch: fits(asked.batch)?,
        ..Plan::classic(strategy)
    })
}
