//! A sample of a server over TCP: the contender serves, the load client sends, the contender stops.
//!
//! The load client is a separate program that speaks the contender protocol; it is started on first
//! use and restarted after a failure. Used by one thread.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{Failure, Hello, Reply};
use super::client::Client;
use super::find::{CommandLine, Surroundings};
use super::stopwatch::Stopwatch;
use crate::experiments::Params;
use crate::interrupt::Interrupt;
use crate::sampling::Request;

/// The parameters meant for the server; the others are for the client.
const SERVERS: [&str; 2] = ["cores", "variant"];

/// What a sample may need in addition to its contender: the load client of all servers, which also
/// serves as epmd for all nodes, and what starting a program needs.
pub(super) struct Resources {
    pub(super) surroundings: Surroundings,
    /// Time limit per answer.
    pub(super) limit: Duration,
    pub(super) interrupt: Interrupt,
    /// `None` until its first use, and after a failure.
    pub(super) load: Option<Client>,
}

impl Resources {
    pub(super) fn start(&self, command: &CommandLine) -> Result<(Client, Hello), Failure> {
        Client::start(command, self.limit, &self.interrupt)
    }

    /// Returns the address and port of epmd.
    pub(super) fn epmd(&mut self) -> Result<String, Failure> {
        let answer = self.ask_load(|client| client.ask(&json!({"op": "epmd"})))?;
        let address = answer.get("address").and_then(Value::as_str).map(ToOwned::to_owned);
        address.ok_or_else(|| Failure::Broken("its epmd does not say where it is".into()))
    }

    fn ask_load<T>(
        &mut self,
        ask: impl FnOnce(&mut Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let client = match &mut self.load {
            Some(client) => client,
            none => none.insert(
                Client::start(&self.surroundings.load_client(), self.limit, &self.interrupt)?.0,
            ),
        };
        let answer = ask(client);
        if matches!(answer, Err(Failure::Broken(_) | Failure::Interrupted)) {
            self.load = None;
        }
        answer
    }
}

/// Takes one sample, and adds to the client's answer the server's count of `acknowledged` messages.
///
/// Returns why there is no sample. If both fail, it is the server's failure: a client whose server
/// has exited can only report a broken connection.
pub(super) fn run(
    server: &mut Client,
    resources: &mut Resources,
    request: &Request<'_>,
) -> Result<Reply, Failure> {
    let stopwatch = Stopwatch::start();
    let (mut to_serve, mut to_send) = (Params::new(), request.params.clone());
    to_serve.extend(SERVERS.into_iter().filter_map(|name| to_send.remove_entry(name)));
    let line = json!({"op": "serve", "experiment": request.experiment, "params": to_serve});
    let served = server.ask(&line)?;
    let Some(address) = served.get("address").and_then(Value::as_str) else {
        return Err(server.nonsense("does not say where it serves"));
    };
    to_send.insert("address".into(), address.into());
    let sent = resources.ask_load(|client| client.run(&Request { params: &to_send, ..*request }));
    let stopped = match &sent {
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        _ => server.ask(&json!({"op": "stop"}))?,
    };
    let mut reply = match sent {
        Ok(reply) => reply,
        // The state of the server is unknown then.
        Err(failure) => return Err(Failure::Broken(format!("its client {failure}"))),
    };
    let Some(acknowledged) = stopped.get("received").and_then(Value::as_u64) else {
        return Err(server.nonsense("does not say how much it has received"));
    };
    reply.raw.insert("acknowledged".into(), acknowledged.into());
    Ok(stopwatch.stop(reply))
}
