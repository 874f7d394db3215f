//! A client of the gateway, and what it knows about its requests.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use purlin_polling::HANG;

/// A blocking client.
pub(crate) struct Client {
    input: BufReader<TcpStream>,
    pub(crate) output: TcpStream,
    /// The last notice.
    pub(crate) is_up: bool,
    /// Number of times that the store was lost.
    pub(crate) losses: u64,
    /// The farewell of the gateway.
    pub(crate) bye: Option<String>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let output = TcpStream::connect(address).expect("the gateway listens");
        // CLOCK: guards against hanging.
        output.set_read_timeout(Some(HANG)).expect("it is not zero");
        output.set_write_timeout(Some(HANG)).expect("it is not zero");
        let input = BufReader::new(output.try_clone().expect("a descriptor"));
        Self { input, output, is_up: false, losses: 0, bye: None }
    }

    /// Reads a line. Returns `None` at the end of the input.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.input.read_line(&mut line).expect("no reset, and not too late");
        line.strip_suffix('\n').map(str::to_owned)
    }

    /// Sends lines. The gateway may have said goodbye, and closed the connection.
    pub(crate) fn send(&mut self, lines: &str) {
        if let Err(error) = self.output.write_all(format!("{lines}\n").as_bytes()) {
            assert!(matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset));
        }
    }

    /// Reads the next reply. Takes the notices before it. Returns `None` if the gateway has closed the connection.
    pub(crate) fn reply(&mut self) -> Option<String> {
        loop {
            let line = self.line()?;
            assert_eq!(self.bye, None, "{line:?} comes after a farewell");
            if !self.is_notice(&line) {
                return Some(line);
            }
        }
    }

    /// Takes a notice or a farewell.
    fn is_notice(&mut self, line: &str) -> bool {
        match line {
            "UP" | "DOWN" => {
                let is_up = line == "UP";
                assert_ne!(is_up, self.is_up, "no change");
                self.is_up = is_up;
                self.losses += u64::from(!is_up);
            }
            _ => match line.strip_prefix("BYE ") {
                Some(why) => self.bye = Some(why.to_owned()),
                None => return false,
            },
        }
        true
    }

    /// Reads notices until the store is up or down, and was lost at least `losses` times.
    pub(crate) fn wait(&mut self, is_up: bool, losses: u64) {
        while self.is_up != is_up || self.losses < losses {
            let line = self.line().expect("it is connected");
            assert!(self.is_notice(&line), "{line:?} is no notice");
        }
    }

    /// Sends a request and reads the reply.
    pub(crate) fn ask(&mut self, request: &str) -> Option<String> {
        self.send(request);
        self.reply()
    }

    /// Ends the client's side, and reads the rest.
    pub(crate) fn finish(mut self) -> Vec<String> {
        self.output.shutdown(Shutdown::Write).expect("it is connected");
        std::iter::from_fn(|| self.line()).collect()
    }
}

/// Last reply to the put of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is stored.
    Stored,
    /// It was not performed.
    Refused,
    /// It may have been performed.
    Unknown,
    /// The gateway ended the connection before it began the request.
    NotBegun,
}

/// The values of one client, each under another key: the value of the key `client-2.7` is `value-2.7`.
pub(crate) struct Ledger {
    number: usize,
    pub(crate) puts: Vec<Put>,
}

impl Ledger {
    pub(crate) fn new(number: usize) -> Self {
        Self { number, puts: Vec::new() }
    }

    fn key(&self, put: usize) -> String {
        format!("client-{}.{put}", self.number)
    }

    fn value(&self, put: usize) -> String {
        format!("value-{}.{put}", self.number)
    }

    /// Puts the next value and gets it, without waiting between the requests. Returns whether it was stored, and `None`
    /// if the gateway has ended the connection.
    pub(crate) fn put(&mut self, client: &mut Client) -> Option<bool> {
        let put = self.puts.len();
        let (key, value) = (self.key(put), self.value(put));
        client.send(&format!("PUT {key} {value}\nGET {key}\nPING"));
        let reply = client.reply();
        let kind = match reply.as_deref() {
            Some("OK") => Put::Stored,
            Some(line) if line.starts_with("REFUSED ") => Put::Refused,
            Some(line) if line.starts_with("UNKNOWN ") => Put::Unknown,
            Some(line) => panic!("{line:?} is no reply to a put"),
            None => Put::NotBegun,
        };
        self.puts.push(kind);
        let got = client.reply()?;
        self.check(put, &got);
        assert_eq!(client.reply()?, "PONG");
        Some(kind == Put::Stored)
    }

    /// Checks what the store has under a key.
    fn check(&self, put: usize, got: &str) {
        let kind = self.puts[put];
        let is_right = match got.strip_prefix("VALUE ") {
            Some(value) => {
                value == self.value(put) && !matches!(kind, Put::Refused | Put::NotBegun)
            }
            None if got == "NONE" => kind != Put::Stored,
            None => got.starts_with("REFUSED ") || got.starts_with("UNKNOWN "),
        };
        assert!(is_right, "{} is {kind:?}, and has {got:?}", self.key(put));
    }

    /// Checks all values, while the store is up. Returns how many are stored.
    pub(crate) fn check_all(&self, client: &mut Client) -> usize {
        let mut stored = 0;
        for put in 0..self.puts.len() {
            let got = client.ask(&format!("GET {}", self.key(put))).expect("a reply");
            assert!(got == "NONE" || got.starts_with("VALUE "), "{got}");
            self.check(put, &got);
            stored += usize::from(got != "NONE");
        }
        stored
    }
}
