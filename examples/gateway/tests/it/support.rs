//! The programs of a test: an epmd, an Erlang node with the store, and the gateway.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use socket2::Socket;
use tempfile::TempDir;

use crate::client::Client;
use crate::programs::{Program, free_port};

pub(crate) const NODE: &str = "store@127.0.0.1";
const COOKIE: &str = "monster";
pub(crate) const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/store.erl");

/// A folder for the compiled store and its log, and the port of an epmd.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) epmd_port: u16,
    _held: Socket,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (address, held) = free_port();
        Self { folder, epmd_port: address.port(), _held: held }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn log(&self) -> PathBuf {
        self.path().join("store.log")
    }

    /// Starts epmd.
    pub(crate) fn epmd(&self) -> Program {
        // WHY through a shell: epmd reports on standard error that it listens.
        let epmd = format!("exec epmd -d -d -address 127.0.0.1 -port {} 2>&1", self.epmd_port);
        let epmd = Program::start(Command::new("sh").args(["-c", &epmd]), "KILL");
        epmd.said("main select").expect("epmd listens");
        epmd
    }

    /// Starts the Erlang node with the store. It ends by a kill.
    pub(crate) fn beam(&self) -> Program {
        if !self.path().join("store.beam").exists() {
            let compiled = Command::new("erlc").arg("-o").arg(self.path()).arg(SOURCE).status();
            assert!(compiled.expect("Erlang is installed").success());
        }
        let start = format!("{{ok, _}} = store:start({:?}), io:format(\"ready~n\").", self.log());
        let mut erl = Command::new("erl");
        erl.args(["-noinput", "-noshell", "-start_epmd", "false", "+sbwt", "none"])
            .args(["-name", NODE, "-setcookie", COOKIE])
            .arg("-pa")
            .arg(self.path())
            .args(["-eval", &start]);
        let beam = Program::start(self.environment(&mut erl), "KILL");
        beam.said("ready").expect("the store starts");
        beam
    }

    /// Sets the variables that an Erlang node reads.
    pub(crate) fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("ERL_EPMD_PORT", self.epmd_port.to_string())
            .env("ERL_CRASH_DUMP_SECONDS", "0")
            .env("HOME", self.path())
    }

    /// Starts the gateway with more arguments. SIGTERM ends it.
    pub(crate) fn gateway(&self, more: &[&str]) -> Gateway {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
        command.args(["--listen", "127.0.0.1:0", "--node", NODE, "--cookie", COOKIE]).args(more);
        Gateway::start(self.environment(&mut command))
    }
}

/// A running gateway.
pub(crate) struct Gateway {
    pub(crate) program: Program,
    pub(crate) address: SocketAddr,
}

impl Gateway {
    pub(crate) fn start(command: &mut Command) -> Self {
        let program = Program::start(command, "TERM");
        let address = program.said("gateway: ").expect("it starts");
        Self { program, address: address.parse().expect("an address") }
    }

    /// Connects a client, which has read whether the store is up.
    pub(crate) fn client(&self) -> Client {
        let mut client = Client::connect(self.address);
        let first = client.line().expect("a notice");
        assert!(first == "UP" || first == "DOWN", "{first}");
        client.is_up = first == "UP";
        client
    }

    /// Connects a client, and waits until the store is up.
    pub(crate) fn client_up(&self) -> Client {
        let mut client = self.client();
        client.wait(true, 0);
        client
    }
}
