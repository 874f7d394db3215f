//! Handler that stores messages in PostgreSQL.
//!
//! A batch is one transaction. It locks the row of the client in `positions`, inserts the messages
//! above that position, and advances it, so messages and position agree at every moment. A
//! transaction whose commit has an unknown outcome is repeated: the lock waits for the end of the
//! first one, and the position then tells what it has stored.
//!
//! All connections of a server share a pool of database connections, which replaces those that
//! fail.
//!
//! COST: five round trips to the database, seven with refusals, and one flush of its log per batch.
//! While the handler waits, the next batch of its connection grows.

use std::fmt;
use std::time::Duration;

use deadpool_postgres::{
    GenericClient, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Transaction,
};
use purlin::ExitReason;
use purlin_ack::client::Backoff;
use purlin_ack::handler::{Batch, Handler, Session, Stored, Unhandled};
use purlin_ack::session::{Level, WIDEST};
use purlin_ack::wire::{Reason, Refusal};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Config, NoTls};

/// Reason for a refused message: its payload is not UTF-8, or has a NUL character, which a column
/// of type `text` cannot store.
pub const NOT_TEXT: Reason = Reason::FIRST_OWN;

/// Settings of each database connection.
///
/// WHY: with another `synchronous_commit` a commit is not durable; and a transaction of a server
/// that has lost its network would keep the row of a client locked.
const OPTIONS: &str = "-c synchronous_commit=on -c idle_in_transaction_session_timeout=10s";
/// How long the handler tries to store a batch. Less than the 30 s for which a client waits for an
/// answer by default.
const PATIENCE: Duration = Duration::from_secs(20);
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(10), most: Duration::from_secs(1) };

/// Locks the position of a client and returns it. A later epoch begins at -1.
const LOCK: &str = "
    insert into positions as known (client, epoch, newest) values ($1, $2, -1)
    on conflict (client) do update
    set epoch = greatest(known.epoch, excluded.epoch),
        newest = case when known.epoch < excluded.epoch then -1 else known.newest end
    returning epoch, newest";
/// A conflict means that a row of `positions` was deleted and its client sent messages again, or that
/// a client used a number twice.
const INSERT: &str = "
    insert into messages (client, epoch, number, payload)
    select $1, $2, number, payload
    from unnest($3::bigint[], $4::text[]) as batch (number, payload)
    where number > $5 on conflict do nothing";
const REFUSE: &str = "
    insert into refusals (client, epoch, number, reason)
    select $1, $2, number, $4 from unnest($3::bigint[]) as batch (number)
    where number > $5 on conflict do nothing";
const ADVANCE: &str = "update positions set newest = greatest(newest, $2) where client = $1";
const POSITION: &str = "select epoch, newest from positions where client = $1";
const REFUSALS: &str = "
    select number, reason from refusals
    where client = $1 and epoch = $2 and number >= $3 order by number";

/// Stores messages of sessions in PostgreSQL. Clones share their database connections.
#[derive(Clone, Debug)]
pub struct Store(Pool);

impl Store {
    /// Connects to the database, such as `host=/run/postgresql dbname=shop`, and creates the tables
    /// that do not exist. Uses at most `connections` connections at a time.
    ///
    /// # Errors
    /// Returns [`Error`] if the database cannot be reached or refuses that.
    pub async fn open(database: &str, connections: usize) -> Result<Self, Error> {
        let mut config: Config = database.parse()?;
        config.options(format!("{} {OPTIONS}", config.get_options().unwrap_or_default()));
        config.connect_timeout(Duration::from_secs(5)).tcp_user_timeout(Duration::from_secs(10));
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config, NoTls, recycling);
        let pool = Pool::builder(manager).max_size(connections).build();
        let pool = pool.expect("a pool without timeouts needs no runtime");
        pool.get().await?.batch_execute(include_str!("schema.sql")).await?;
        Ok(Self(pool))
    }
}

impl Handler for Store {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let Some(session) = batch.session() else {
            // Without a session a message has no key.
            let first = batch.frames().map(|frame| frame.id.number()).take(1);
            let refusals = first.map(|id| Refusal { id, reason: Reason::NOT_TAKEN });
            return Err(Unhandled::Refused(refusals.collect()));
        };
        let rows = Rows::of(session, batch).map_err(|error| Unhandled::Failed(error.into()))?;
        match retry(|| store(&self.0, &rows)).await {
            Ok(refusals) if refusals.is_empty() => Ok(()),
            Ok(refusals) => Err(Unhandled::Refused(refusals)),
            Err(reason) => Err(Unhandled::Failed(reason)),
        }
    }

    fn offers(&self) -> Level {
        Level::Durable
    }

    /// WHY without the lock: a transaction that an earlier connection of the client has left may
    /// still commit. The client sends its messages again then, and `handle` finds them stored.
    async fn stored(&mut self, client: [u8; 16]) -> Result<Option<Stored>, ExitReason> {
        retry(|| position(&self.0, client)).await
    }
}

/// Rows of a batch.
struct Rows<'a> {
    client: [u8; 16],
    epoch: i64,
    first: i64,
    newest: i64,
    numbers: Vec<i64>,
    payloads: Vec<&'a str>,
    refused: Vec<i64>,
}

impl<'a> Rows<'a> {
    fn of(session: Session, batch: Batch<'a>) -> Result<Self, Error> {
        let mut rows = Self {
            client: session.client,
            epoch: bigint(session.epoch)?,
            first: i64::MAX,
            newest: -1,
            numbers: Vec::new(),
            payloads: Vec::new(),
            refused: Vec::new(),
        };
        for frame in batch.frames() {
            let number = bigint(frame.id.number())?;
            rows.first = rows.first.min(number);
            rows.newest = rows.newest.max(number);
            match std::str::from_utf8(frame.payload) {
                Ok(text) if !text.contains('\0') => {
                    rows.numbers.push(number);
                    rows.payloads.push(text);
                }
                _ => rows.refused.push(number),
            }
        }
        Ok(rows)
    }
}

/// Stores the messages of a batch that are not stored yet. Returns its refused messages.
async fn store(pool: &Pool, rows: &Rows<'_>) -> Result<Vec<Refusal>, Error> {
    let Rows { client, epoch, first, newest, numbers, payloads, refused } = rows;
    let (client, reason) = (&client[..], i64::from(NOT_TEXT.0));
    let mut connection = pool.get().await?;
    let transaction = connection.transaction().await?;

    let lock = transaction.prepare_cached(LOCK).await?;
    let known = transaction.query_one(&lock, &[&client, epoch]).await?;
    let (known_epoch, stored): (i64, i64) = (known.get(0), known.get(1));
    if known_epoch > *epoch {
        return Err(Error::Stale);
    }
    let insert = transaction.prepare_cached(INSERT).await?;
    transaction.execute(&insert, &[&client, epoch, numbers, payloads, &stored]).await?;
    let mut refusals = Vec::new();
    // WHY read from the table: those up to `stored` are what an earlier transaction has decided.
    if !refused.is_empty() || stored >= *first {
        let refuse = transaction.prepare_cached(REFUSE).await?;
        transaction.execute(&refuse, &[&client, epoch, refused, &reason, &stored]).await?;
        refusals = refusals_from(&transaction, client, *epoch, *first).await?;
    }
    let advance = transaction.prepare_cached(ADVANCE).await?;
    transaction.execute(&advance, &[&client, newest]).await?;
    transaction.commit().await?;
    Ok(refusals)
}

/// Returns the stored position of a client.
async fn position(pool: &Pool, client: [u8; 16]) -> Result<Option<Stored>, Error> {
    let mut connection = pool.get().await?;
    // One snapshot for both queries.
    let transaction = connection.build_transaction().read_only(true);
    let transaction =
        transaction.isolation_level(tokio_postgres::IsolationLevel::RepeatableRead).start().await?;
    let position = transaction.prepare_cached(POSITION).await?;
    let Some(row) = transaction.query_opt(&position, &[&&client[..]]).await? else {
        return Ok(None);
    };
    let (epoch, newest): (i64, i64) = (row.get(0), row.get(1));
    let window = newest.saturating_sub(i64::from(WIDEST));
    let refused = refusals_from(&transaction, &client, epoch, window).await?;
    Ok(Some(Stored { epoch: epoch as u64, newest: newest as u64, refused }))
}

/// Returns the stored refusals of a client from this message on.
async fn refusals_from(
    transaction: &Transaction<'_>,
    client: &[u8],
    epoch: i64,
    first: i64,
) -> Result<Vec<Refusal>, Error> {
    let refusals = transaction.prepare_cached(REFUSALS).await?;
    let rows = transaction.query(&refusals, &[&client, &epoch, &first]).await?;
    let refusal = |row: &tokio_postgres::Row| {
        let (number, reason): (i64, i64) = (row.get(0), row.get(1));
        Refusal { id: number as u64, reason: Reason(reason as u32) }
    };
    Ok(rows.iter().map(refusal).collect())
}

/// Repeats an attempt that failed because the database was not available.
async fn retry<T, F>(attempt: impl Fn() -> F) -> Result<T, ExitReason>
where
    F: Future<Output = Result<T, Error>>,
{
    let attempts = async {
        let mut failures = 0;
        loop {
            match attempt().await {
                Err(error) if error.is_transient() => {
                    tracing::warn!(%error, "the database is not available, trying again");
                    sleep(BACKOFF.wait(failures, fastrand::f64())).await;
                    failures += 1;
                }
                done => return done.map_err(ExitReason::from),
            }
        }
    };
    let late =
        || ExitReason::shutdown_with(format!("the database has not answered for {PATIENCE:?}"));
    timeout(PATIENCE, attempts).await.unwrap_or_else(|_| Err(late()))
}

/// Why messages cannot be stored.
#[derive(Debug)]
pub enum Error {
    /// The pool is closed.
    Pool(PoolError),
    /// The database cannot be reached, failed, or refused a statement.
    Database(tokio_postgres::Error),
    /// A later epoch of the client is stored.
    Stale,
    /// An epoch or id does not fit into a column of type `bigint`.
    TooLarge(u64),
}

impl Error {
    /// Whether the same statement may succeed later.
    fn is_transient(&self) -> bool {
        let Self::Database(error) = self else { return false };
        // Connection lost, transaction ended by a time limit or rolled back, out of resources, lock
        // not available, operator intervention, system error. Without a code the connection failed.
        let classes = ["08", "25", "40", "53", "55", "57", "58"];
        error.code().is_none_or(|code| classes.contains(&&code.code()[..2]))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(error) => error.fmt(f),
            // The text of this error lacks the cause.
            Self::Database(error) => match std::error::Error::source(error) {
                Some(cause) => write!(f, "{error}: {cause}"),
                None => error.fmt(f),
            },
            Self::Stale => f.write_str("a later epoch of the client is stored"),
            Self::TooLarge(number) => write!(f, "{number} exceeds the largest bigint"),
        }
    }
}

impl std::error::Error for Error {}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Database(error),
            error => Self::Pool(error),
        }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Error> for ExitReason {
    fn from(error: Error) -> Self {
        match error {
            // Caused by the client, not by a fault of the server.
            Error::Stale | Error::TooLarge(_) => Self::shutdown_with(error),
            error => Self::error(error),
        }
    }
}

fn bigint(number: u64) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| Error::TooLarge(number))
}
