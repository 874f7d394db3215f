//! Connections to the database.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::{Client, Config, NoTls};

use crate::Failure;

/// Settings of each connection.
///
/// WHY: with another `synchronous_commit` a commit is not durable. A transaction of a program that has lost its network
/// would keep its job; the limit is longer than an attempt.
const OPTIONS: &str = "-c synchronous_commit=on -c idle_in_transaction_session_timeout=60s";

/// How to connect to the database. A clone is one reference.
#[derive(Clone, Debug)]
pub(crate) struct Database(Arc<Config>);

impl Database {
    /// Parses the address of a database, such as `host=/run/postgresql dbname=shop`.
    pub(crate) fn parse(text: &str) -> Result<Self, tokio_postgres::Error> {
        let mut config: Config = text.parse()?;
        config.options(format!("{} {OPTIONS}", config.get_options().unwrap_or_default()));
        config.connect_timeout(Duration::from_secs(5)).tcp_user_timeout(Duration::from_secs(10));
        Ok(Self(Arc::new(config)))
    }

    /// Opens a connection, which ends when the client is dropped.
    pub(crate) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.0.connect(NoTls).await?;
        // The client reports its errors.
        tokio::spawn(async { drop(connection.await) });
        Ok(client)
    }

    /// Creates the tables that do not exist.
    pub(crate) async fn create_tables(&self) -> Result<(), Failure> {
        Ok(self.connect().await?.batch_execute(include_str!("schema.sql")).await?)
    }
}
