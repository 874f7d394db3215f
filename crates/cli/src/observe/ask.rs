//! Client of a node's API, like the page's script.

use std::time::Duration;

use purlin_lab::error::Problem;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ureq::Agent;

use super::harmless::harmless;
use super::page::Page;

/// Timeout of a request: as long as the node may take for its first snapshot of millions of processes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Timeout of connecting.
const CONNECT: Duration = Duration::from_secs(5);
/// Largest response in bytes; five hundred rows are a tenth of that.
const LONGEST: u64 = 4 << 20;
/// Longest refusal that is shown, in columns.
const REFUSAL: usize = 300;

/// Client of one node's page.
pub(super) struct Observer {
    agent: Agent,
    page: Page,
}

/// Query for processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) sort: &'static str,
    pub(super) descending: bool,
    pub(super) text: String,
    pub(super) offset: usize,
    pub(super) limit: usize,
}

/// Everything that is shown of a node.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) overview: Overview,
    pub(super) processes: Processes,
    pub(super) warnings: Vec<Warning>,
}

/// The response of `/api/overview`, as far as it is shown.
#[derive(Debug, Deserialize)]
pub(super) struct Overview {
    pub(super) node: String,
    pub(super) uptime_ns: u64,
    pub(super) snapshot: Snapshot,
    pub(super) hogs: Vec<Hog>,
    pub(super) drops: Drops,
    pub(super) sampler: Sampler,
}

/// The part of an overview that was read in the last snapshot.
#[derive(Debug, Deserialize)]
pub(super) struct Snapshot {
    pub(super) workers: Vec<Worker>,
    pub(super) ready: usize,
    pub(super) processes: usize,
    pub(super) messages_per_second: f64,
    pub(super) reductions_per_second: f64,
    pub(super) resident_bytes: Option<u64>,
    pub(super) process_bytes: u64,
    pub(super) timers: usize,
}

/// A worker thread of the scheduler.
#[derive(Debug, Deserialize)]
pub(super) struct Worker {
    /// `None` if it was not measured.
    pub(super) utilization: Option<f64>,
}

/// A process that occupies a worker without yielding.
#[derive(Debug, Deserialize)]
pub(super) struct Hog {
    pub(super) pid: String,
}

/// Numbers of discarded messages, by cause.
#[derive(Debug, Deserialize)]
pub(super) struct Drops {
    ended: u64,
    alias: u64,
    rejected: u64,
    newest: u64,
    oldest: u64,
}

/// Cost of the sampler: its share of one core, and the processes it left out.
#[derive(Debug, Deserialize)]
pub(super) struct Sampler {
    pub(super) share: f64,
    pub(super) left_out: u64,
}

/// The response of `/api/processes`.
#[derive(Debug, Deserialize)]
pub(super) struct Processes {
    pub(super) all: usize,
    pub(super) total: usize,
    pub(super) offset: usize,
    pub(super) rows: Vec<Row>,
}

/// A row of the process table.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) pid: String,
    pub(super) name: Option<String>,
    pub(super) function: String,
    pub(super) state: String,
    pub(super) waits_for: Option<String>,
    pub(super) mailbox: u64,
    pub(super) messages_in: u64,
    pub(super) messages_out: u64,
    pub(super) reductions: u64,
    pub(super) memory: u64,
}

/// The response of `/api/warnings`.
#[derive(Debug, Deserialize)]
struct Warnings {
    warnings: Vec<Warning>,
}

/// A warning of the observer.
#[derive(Debug, Deserialize)]
pub(super) struct Warning {
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) for_ns: u64,
}

/// An error response.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Drops {
    pub(super) fn all(&self) -> u64 {
        let Self { ended, alias, rejected, newest, oldest } = self;
        [ended, alias, rejected, newest, oldest]
            .into_iter()
            .fold(0, |all, one| all.saturating_add(*one))
    }
}

impl Observer {
    pub(super) fn at(page: Page) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(PATIENCE))
            // WHY no redirects: the token must not be sent to another host.
            .max_redirects(0)
            .proxy(None)
            .build();
        Self { agent: config.into(), page }
    }

    /// Returns the host and port.
    pub(super) fn host(&self) -> &str {
        &self.page.host
    }

    /// Fetches everything that is shown.
    pub(super) fn ask(&self, query: &Query) -> Result<Seen, Problem> {
        Ok(Seen {
            overview: self.get("/api/overview", &[])?,
            processes: self.processes(query)?,
            warnings: self.get::<Warnings>("/api/warnings", &[])?.warnings,
        })
    }

    /// Fetches the same as one JSON object, with every field that the node sends.
    pub(super) fn ask_raw(&self, query: &Query) -> Result<Value, Problem> {
        let warnings: Value = self.get("/api/warnings", &[])?;
        Ok(json!({
            "overview": self.get::<Value>("/api/overview", &[])?,
            "processes": self.processes::<Value>(query)?,
            "warnings": warnings["warnings"],
        }))
    }

    fn processes<T: DeserializeOwned>(&self, query: &Query) -> Result<T, Problem> {
        let Query { sort, descending, text, offset, limit } = query;
        let order = if *descending { "desc" } else { "asc" };
        let (offset, limit) = (offset.to_string(), limit.to_string());
        let query = [
            ("sort", *sort),
            ("order", order),
            ("text", text),
            ("offset", &offset),
            ("limit", &limit),
        ];
        self.get("/api/processes", &query)
    }

    fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<T, Problem> {
        let Page { host, token } = &self.page;
        let request =
            self.agent.get(format!("http://{host}{path}")).query_pairs(query.iter().copied());
        let request = request.header("Authorization", format!("Bearer {token}"));
        let unreachable_node = |error: ureq::Error| {
            let why = match error {
                ureq::Error::Io(error) => error.to_string(),
                error => error.to_string(),
            };
            Problem::new(format!("no node can be observed at {host}: {why}"))
        };
        let mut answer = request.call().map_err(unreachable_node)?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(LONGEST).read_to_string();
        let body = body.map_err(unreachable_node)?;
        let other = || Problem::new(format!("the server at {host} is not the page of a node"));
        match status {
            200 => serde_json::from_str(&body).map_err(|_| other()),
            401 => Err(Problem::new(format!("the token is not that of the node at {host}"))),
            _ => {
                let refusal: Refusal = serde_json::from_str(&body).map_err(|_| other())?;
                let why = harmless(&refusal.error, REFUSAL);
                Err(Problem::new(format!("the node at {host} refuses: {why}")))
            }
        }
    }
}
