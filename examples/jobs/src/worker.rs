//! Worker: claims a job, performs it, and commits its effect.
//!
//! One transaction claims a job by locking its row, stores its effect and marks it as done. So an effect and its mark are
//! committed together, and a job whose worker, program or machine ends before that is ready for another worker.
//!
//! COST: one connection to the database per worker; five round trips and one flush of the log per job.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use purlin::supervisor::{ChildSpec, Shutdown, SupervisorSpec};
use purlin::{Exit, ExitReason, Process, receive, task};
use tokio_postgres::Client;

use crate::Failure;
use crate::database::Database;
use crate::perform::{Job, perform};

/// Interval at which an idle worker asks for jobs.
const POLL: Duration = Duration::from_millis(200);
/// Time limit of an attempt.
const LIMIT: Duration = Duration::from_secs(30);
/// Time limit of a worker's stop: it finishes its attempt.
const SHUTDOWN: Duration = Duration::from_secs(35);
/// Delay after the first failed attempt. Each further one doubles it.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const LONGEST_DELAY: Duration = Duration::from_secs(3600);
/// Attempts before a job has failed for good.
const ATTEMPTS: i32 = 5;

const CLAIM: &str = "
    select id, payload, attempts + 1 from jobs where state = 'ready' and due <= now()
    order by due, id limit 1 for update skip locked";
const EFFECT: &str = "insert into ledger (job, result) values ($1, $2)";
const DONE: &str = "update jobs set state = 'done', attempts = $2, error = null where id = $1";
const FAILED: &str = "
    update jobs set state = $3, attempts = $2, error = $4,
        due = clock_timestamp() + make_interval(secs => $5)
    where id = $1";

/// Returns the supervisor of the workers, which claim no job any more once `stopping` is set.
///
/// A worker ends when it loses its connection, and is restarted after a delay. WHY a separate intensity: a database
/// that is down for an hour is no reason to end the program. Eleven restarts fit into a minute with these delays.
pub(crate) fn workers(
    count: u16,
    database: &Database,
    stopping: &Arc<AtomicBool>,
) -> SupervisorSpec {
    (0..count).fold(SupervisorSpec::one_for_one().name("workers"), |pool, number| {
        let (database, stopping) = (database.clone(), Arc::clone(stopping));
        let worker = ChildSpec::worker(format!("worker-{number}"), move |me| {
            worker(me, database.clone(), Arc::clone(&stopping))
        });
        let worker = worker.backoff(Duration::from_millis(100), Duration::from_secs(10));
        let worker = worker.intensity(20, Duration::from_secs(60));
        pool.child(worker.shutdown(Shutdown::Timeout(SHUTDOWN)))
    })
}

async fn worker(
    mut me: Process<Exit>,
    database: Database,
    stopping: Arc<AtomicBool>,
) -> Result<ExitReason, Failure> {
    me.trap_exit(true);
    let mut client = database.connect().await?;
    loop {
        let claims = !stopping.load(Ordering::Relaxed);
        let pause = if claims && work(&mut client).await? { Duration::ZERO } else { POLL };
        receive!(me, {
            // The supervisor stops the worker.
            exit => return Ok(exit.reason),
            after pause => {}
        });
    }
}

/// Performs the job that has been due for longest. Returns whether there was one.
async fn work(client: &mut Client) -> Result<bool, Failure> {
    let transaction = client.transaction().await?;
    let Some(row) = transaction.query_opt(CLAIM, &[]).await? else { return Ok(false) };
    let (id, attempt): (i64, i32) = (row.get(0), row.get(2));
    println!("attempt {attempt} of job {id}");
    let outcome = outcome(Job { id, payload: row.get(1), attempt }).await;
    let report = match outcome {
        Ok(result) => {
            transaction.execute(EFFECT, &[&id, &result]).await?;
            transaction.execute(DONE, &[&id, &attempt]).await?;
            format!("done {id}: {result}")
        }
        Err(error) => {
            let state = if attempt < ATTEMPTS { "ready" } else { "failed" };
            let delay = delay(attempt).as_secs_f64();
            transaction.execute(FAILED, &[&id, &attempt, &state, &error, &delay]).await?;
            format!("{state} {id}: {error}")
        }
    };
    transaction.commit().await?;
    println!("{report}");
    Ok(true)
}

/// Performs a job in a separate process, so that a panic or a job that never ends is only a failed attempt.
async fn outcome(job: Job) -> Result<String, String> {
    let mut attempt = task::spawn(perform(job));
    let outcome = match attempt.timeout(LIMIT).await {
        Some(Ok(result)) => result.map_err(|error| error.to_string()),
        Some(Err(crash)) => Err(format!("crashed: {crash}")),
        None => {
            // Its result is not wanted any more.
            let _ = attempt.shutdown(Duration::from_secs(1)).await;
            Err(format!("not done in {LIMIT:?}"))
        }
    };
    // WHY: PostgreSQL stores no NUL, so the attempt would not count, and its job would come first again for ever.
    let storable = |text: String| text.replace('\0', "\u{fffd}");
    outcome.map(storable).map_err(storable)
}

/// Returns the delay after this failed attempt.
fn delay(attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt - 1).unwrap_or(0).min(20);
    LONGEST_DELAY.min(FIRST_DELAY * 2_u32.pow(doublings))
}
