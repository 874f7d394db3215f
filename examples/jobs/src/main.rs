//! `jobs ADDRESS DATABASE [WORKERS]`: a job queue on PostgreSQL. README.md shows its use.
//!
//! ```text
//! application "jobs"
//! └─ supervisor, one for one
//!    ├─ page      supervisor: acceptor, and a process for each connection
//!    └─ workers   supervisor: a process for each worker
//! ```
//!
//! They are stopped in reverse order, so the page shows how the workers finish their jobs. Before that, `prep_stop` keeps
//! all workers from claiming further jobs: their supervisor stops them one after the other.
//!
//! | module | role |
//! |---|---|
//! | `database` | connections to the database |
//! | `perform` | what a job does |
//! | `worker` | a worker, and the supervisor of all of them |
//! | `page` | the dashboard |

mod database;
mod page;
mod perform;
mod worker;

use std::env;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use purlin::application::{self, ApplicationSpec};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use tokio::net::TcpListener;
use tracing::Level;

use database::Database;

/// Error of a process.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "usage: jobs ADDRESS DATABASE [WORKERS]";
const WORKERS: u16 = 4;
/// By default PostgreSQL accepts 100 connections of all programs.
const MOST_WORKERS: u16 = 64;
/// Time limit of the stop: longer than an attempt of a job.
const SHUTDOWN: Duration = Duration::from_secs(40);

#[purlin::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(Level::WARN).init();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (address, database, workers) = match parse(&arguments) {
        Ok(parsed) => parsed,
        Err(problem) => {
            eprintln!("jobs: {problem}");
            return ExitCode::from(2);
        }
    };
    match start(address, &database).await {
        Ok(listener) => run(listener, database, workers).await,
        Err(error) => {
            eprintln!("jobs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Result<(SocketAddr, Database, u16), String> {
    let (address, database, workers) = match arguments {
        [address, database] => (address, database, None),
        [address, database, workers] => (address, database, Some(workers)),
        _ => return Err(USAGE.into()),
    };
    let address = address
        .parse()
        .map_err(|_| format!("'{address}' is not an address, such as 127.0.0.1:8080"))?;
    let database = Database::parse(database)
        .map_err(|error| format!("not the address of a database: {error}"))?;
    let workers = workers.map_or(Ok(WORKERS), |text| {
        let count = text.parse().ok().filter(|count| (1..=MOST_WORKERS).contains(count));
        count.ok_or(format!("'{text}' is no number of workers from 1 to {MOST_WORKERS}"))
    })?;
    Ok((address, database, workers))
}

async fn start(address: SocketAddr, database: &Database) -> Result<TcpListener, Failure> {
    database.create_tables().await?;
    Ok(TcpListener::bind(address).await?)
}

async fn run(listener: TcpListener, database: Database, workers: u16) -> ExitCode {
    if let Ok(address) = listener.local_addr() {
        println!("page at http://{address}/");
    }
    let stopping = Arc::new(AtomicBool::new(false));
    let tree = SupervisorSpec::one_for_one()
        .child(ChildSpec::supervisor("page", page::page(listener, database.clone())))
        .child(ChildSpec::supervisor("workers", worker::workers(workers, &database, &stopping)));
    let prep_stop = async move || stopping.store(true, Ordering::Relaxed);
    let jobs = ApplicationSpec::new("jobs", tree).prep_stop(prep_stop).shutdown(SHUTDOWN);
    application::run(jobs).await
}
