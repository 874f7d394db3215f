//! `postgres_server ADDRESS DATABASE`: a server that stores messages in PostgreSQL.

use std::env;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use example_postgres::store::Store;
use purlin::application::{self, ApplicationSpec};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin_ack::server::Server;
use tracing::Level;

/// Connections to the database. By default PostgreSQL accepts 100 of all programs.
const CONNECTIONS: usize = 16;

#[purlin::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(Level::WARN).init();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, database] = &arguments[..] else {
        eprintln!("usage: postgres_server ADDRESS DATABASE");
        return ExitCode::from(2);
    };
    let Ok(address) = address.parse::<SocketAddr>() else {
        eprintln!("postgres_server: '{address}' is not an address, such as 127.0.0.1:8006");
        return ExitCode::from(2);
    };
    let store = match Store::open(database, CONNECTIONS).await {
        Ok(store) => store,
        Err(error) => {
            eprintln!("postgres_server: {error}");
            return ExitCode::FAILURE;
        }
    };
    let server = Server::builder(address).handler(move |_peer| store.clone());
    let (messages, door) = match server.listen() {
        Ok(listening) => listening.into_parts(),
        Err(error) => {
            eprintln!("postgres_server: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("listening on {}", door.local_addr());
    let tree = SupervisorSpec::one_for_one().child(ChildSpec::supervisor("messages", messages));
    application::run(ApplicationSpec::new("postgres_server", tree)).await
}
