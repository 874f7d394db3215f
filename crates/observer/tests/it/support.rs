//! Test support: a node with its page, and raw requests over a socket without a client library.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use purlin::Node;
use purlin_observer::{Observed, Observer};
pub(crate) use purlin_polling::{HANG, until, until_some};
use serde_json::Value;

pub(crate) const TOKEN: &str = "a-token-hard-to-guess-0123456789";
/// Sampling period. WHY not the default second: tests wait for several snapshots.
pub(crate) const PERIOD: Duration = Duration::from_millis(20);

/// An observed node.
pub(crate) struct Seen {
    pub(crate) node: Node,
    pub(crate) observer: Observer,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn start() -> Self {
        Self::start_with(|observer| observer)
    }

    pub(crate) fn start_with(settings: impl FnOnce(Observer) -> Observer) -> Self {
        Self::build(2, settings)
    }

    pub(crate) fn build(workers: usize, settings: impl FnOnce(Observer) -> Observer) -> Self {
        let observer =
            Observer::at(([127, 0, 0, 1], 0).into()).token(TOKEN).period(PERIOD).silent();
        let observer = settings(observer);
        let node = Node::builder().name("zanzibar").workers(workers).observer(observer.clone());
        Self { node: node.build().expect("the node starts"), observer }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let address = self.observer.local_addr().expect("the page is there");
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(HANG)).expect("a timeout can be set");
        stream
    }

    pub(crate) fn host(&self) -> String {
        self.observer.local_addr().expect("the page is there").to_string()
    }

    /// Sends a request with these header fields only, plus `Host` unless it is among them.
    pub(crate) fn ask(&self, line: &str, fields: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.connect();
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request += &format!("Host: {}\r\n", self.host());
        }
        for (name, value) in fields {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request +=
                &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers text");
        Answer::read(&answer)
    }

    /// Sends a GET request with the token.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &[("Authorization", &bearer())], "")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask(&format!("POST {path}"), &[("Authorization", &bearer())], body)
    }

    /// Returns the JSON body of a successful request with the token.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("it is JSON")
    }

    /// Repeats the request until its response satisfies the predicate.
    pub(crate) fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        until_some(path, || Some(self.json(path)).filter(&is_so))
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.node.stop_blocking();
    }
}

pub(crate) fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, rest) = text.split_once("\r\n\r\n").expect("an answer has a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Self {
            status: status.expect("an answer has a status"),
            head: head.to_lowercase(),
            body: rest.to_string(),
        }
    }

    pub(crate) fn error(&self) -> String {
        let said: Value = serde_json::from_str(&self.body).unwrap_or_default();
        said["error"].as_str().unwrap_or_default().to_string()
    }
}
