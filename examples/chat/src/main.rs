//! The chat service as a program: runs until SIGTERM or Ctrl-C.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use chat::Settings;
use clap::Parser;
use purlin::{Node, application};

/// Serve a chat with a journal
#[derive(Parser)]
struct Arguments {
    /// Port on 127.0.0.1; 0 chooses a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// File of the journal
    #[arg(long, default_value = "chat.journal")]
    journal: PathBuf,
    /// Lines of each room that are kept
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..))]
    history: u16,
    /// Seconds that clients have to close their connections when the service stops
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=3600))]
    drain: u64,
    /// Serve the observer's page at /observer, with this token
    #[arg(long, env = "CHAT_OBSERVER_TOKEN", hide_env_values = true)]
    observer_token: Option<String>,
}

#[purlin::main(name = "chat")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let Arguments { port, journal, history, drain, observer_token } = Arguments::parse();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let node = Node::current().expect("main is a process");
    let drain_timeout = Duration::from_secs(drain);
    let history = history.into();
    let settings = Settings { address, journal, history, drain_timeout, observer_token };
    match chat::application(&node, &settings) {
        Ok((chat, address)) => {
            println!("chat: http://{address}/");
            application::run(chat).await
        }
        Err(error) => {
            eprintln!("chat: {error}");
            ExitCode::from(2)
        }
    }
}
