//! Tests of `purlin ack serve --forward`: messages from TCP to an Elixir process on a BEAM.

#![cfg(unix)]

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::nodes::{COOKIE, Port, epmd, free_port};
use crate::support::running::Running;
use crate::support::{HANG, line, purlin, until};
use purlin::Process;
use purlin_ack::client::Client;
use purlin_ack::session::Level;
use purlin_ack::wire::{Ack, Head, Id, SizeOrder};
use tokio::net::TcpSocket;

/// Environment of a test without the sink: an epmd and a folder.
struct Place {
    folder: tempfile::TempDir,
    port: Port,
    _epmd: Running,
}

impl Place {
    fn new() -> Self {
        let port = free_port();
        let _epmd = epmd(&port);
        Self { folder: tempfile::tempdir().unwrap(), port, _epmd }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn ledger(&self) -> PathBuf {
        self.path().join("ledger")
    }

    fn errors(&self) -> PathBuf {
        self.path().join("errors")
    }

    /// Starts an Elixir node with a process that writes a ledger.
    fn sink(&self) -> Running {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/sink.exs");
        let mut sink = self.elixir(&[Path::new(script), &self.ledger()]);
        assert_eq!(sink.line(), "ready");
        sink
    }

    /// Starts an Elixir node that runs a script.
    fn elixir(&self, script: &[&Path]) -> Running {
        let mut command = Command::new("elixir");
        command
            .args(["--erl", "+S 1:1 +sbwt none -start_epmd false"])
            .args(["--name", "shop@127.0.0.1", "--cookie", COOKIE])
            .args(script)
            .env("ERL_EPMD_PORT", &*self.port)
            .env("HOME", self.path());
        Running::start(&mut command)
    }

    /// Starts a gateway to the sink; returns it with its listening address. Its standard error is in the file `errors`.
    fn gateway(&self, words: &[&str]) -> (Running, String) {
        let errors = File::create(self.errors()).expect("the folder is writable");
        let mut command = purlin(self.path());
        command
            .args(["ack", "serve", "--strategy", "best", "--listen", "127.0.0.1:0"])
            .args(["--forward", "sink@shop@127.0.0.1", "--cookie", COOKIE])
            .args(words)
            .env("ERL_EPMD_PORT", &*self.port)
            .stderr(errors);
        let mut gateway = Running::start(&mut command);
        let line = gateway.line();
        let (_, address) = line.split_once(" listens on ").expect(&line);
        (gateway, address.to_owned())
    }

    /// Returns the payloads in the ledger in the order of writing, by connection.
    fn written(&self) -> HashMap<u64, Vec<u64>> {
        let mut written: HashMap<u64, Vec<u64>> = HashMap::new();
        for line in std::fs::read_to_string(self.ledger()).expect("a ledger").lines() {
            let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let [connection, _, payload] = numbers[..] else { panic!("{line}") };
            written.entry(connection).or_default().push(payload);
        }
        written
    }
}

/// Sends numbers as text over a new connection and waits for all acks.
fn send(address: &str, numbers: std::ops::Range<u64>) {
    let address: SocketAddr = address.parse().unwrap();
    let node = purlin::Node::builder().workers(1).build().unwrap();
    node.block_on(async move |_: Process<()>| {
        let client = Client::builder(address).session(Level::Handled);
        let client = client.give_up_after(HANG).connect().await.expect("it listens");
        for number in numbers {
            client.send(number.to_string().as_bytes()).await.expect("there is room");
        }
        client.close().await.expect("all is acknowledged");
    });
}

#[test]
fn every_message_arrives_once_and_in_order_per_connection() {
    let place = Place::new();
    let mut sink = place.sink();
    let (gateway, address) = place.gateway(&["--credit", "500"]);
    let ranges = [0..4000, 10_000..14_000, 20_000..24_000];
    std::thread::scope(|scope| {
        for range in ranges.clone() {
            scope.spawn(|| send(&address, range));
        }
    });
    let mut written: Vec<Vec<u64>> = place.written().into_values().collect();
    written.sort();
    assert_eq!(written, ranges.map(|range| range.collect::<Vec<u64>>()));
    let peak: u64 = sink.ask("peak").parse().unwrap();
    assert!((1..=500).contains(&peak), "the credit is 500, and {peak} were there");
    let (status, printed) = gateway.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(printed.contains("best: 12000 messages"), "{printed}");
    assert!(printed.contains("forwarded: 12000 messages confirmed\n"), "{printed}");
}

#[test]
fn a_cut_connection_between_the_nodes_loses_nothing_and_duplicates_are_detected() {
    let place = Place::new();
    let mut sink = place.sink();
    let (gateway, address) = place.gateway(&["--credit", "300"]);
    // A batch is no larger than the credit, so these are two batches.
    assert_eq!((sink.ask("at 300 cut"), sink.ask("at 900 cut")), ("ok".into(), "ok".into()));
    send(&address, 0..2000);
    assert_eq!((sink.line(), sink.line()), ("cut".into(), "cut".into()));
    let written = &place.written()[&1];
    let first_wrong = (0..).zip(written).find(|(due, found)| due != *found);
    assert_eq!((first_wrong, written.len()), (None, 2000));
    let (_, printed) = gateway.end("-TERM");
    assert!(printed.contains("forwarded: 2000 messages confirmed"), "{printed}");
    assert!(printed.contains("sent again"), "{printed}");
}

/// Returns a message of the classic protocol.
fn message(id: u64, payload: &[u8]) -> Vec<u8> {
    let head = Head { id: Id::from(id), size: payload.len() as u32 };
    [&head.to_bytes(SizeOrder::Little)[..], payload].concat()
}

/// Returns messages whose payloads are their ids.
fn numbered(ids: std::ops::Range<u64>) -> Vec<u8> {
    ids.flat_map(|id| message(id, id.to_string().as_bytes())).collect()
}

/// Reader of the acks of a connection.
struct Acks {
    stream: TcpStream,
    /// Beginning of an incomplete ack.
    begun: Vec<u8>,
    /// Number of acknowledged messages: all with ids below.
    count: u64,
}

impl Acks {
    fn of(stream: &TcpStream) -> Self {
        let stream = stream.try_clone().expect("a socket can be shared");
        Self { stream, begun: Vec::new(), count: 0 }
    }

    /// Reads available bytes, and blocks until there are some.
    fn read(&mut self) -> io::Result<()> {
        let mut some = [0; 1200];
        let count = self.stream.read(&mut some)?;
        assert!(count > 0, "the connection is closed after {} acknowledged messages", self.count);
        self.begun.extend(&some[..count]);
        while let Some((&ack, rest)) = self.begun.split_first_chunk() {
            let ack = Ack::from_bytes(ack);
            assert_eq!(ack.id.number(), self.count + u64::from(ack.skipped), "acks leave no gap");
            self.count = ack.id.number() + 1;
            self.begun = rest.to_vec();
        }
        Ok(())
    }

    /// Reads until exactly `count` messages are acknowledged.
    fn wait_for(&mut self, count: u64) {
        while self.count < count {
            self.read().expect("the connection goes on");
        }
        assert_eq!(self.count, count);
    }

    /// Reads everything that has arrived.
    fn drain(&mut self) {
        self.stream.set_nonblocking(true).expect("it is a socket");
        while self.may_read() {}
        self.stream.set_nonblocking(false).expect("it is a socket");
    }

    /// Reads available bytes; returns `false` if the socket has no data.
    fn may_read(&mut self) -> bool {
        match self.read() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            read => read.map(|()| true).expect("the connection goes on"),
        }
    }
}

/// Connects with a small send buffer, so that the kernel holds few unread bytes.
fn connect_with_a_small_buffer(address: &str) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let address: SocketAddr = address.parse().unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.set_send_buffer_size(8192)?;
        socket.connect(address).await?.into_std()
    });
    let stream = stream.expect("it listens");
    stream.set_nonblocking(false).expect("it is a socket");
    stream
}

/// Writer of consecutively numbered messages of one kilobyte.
struct Flood {
    stream: TcpStream,
    /// Id of the last message that was written, completely or in part.
    newest: u64,
    /// The unwritten part of that message.
    rest: Vec<u8>,
}

impl Flood {
    /// Writes until the peer has read nothing for a tenth of a second.
    fn fill(&mut self) {
        // WHY real time: that a peer has stopped reading is no event. If the peer is only slow, less is written, and
        // the later assertions hold all the same.
        self.stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
        loop {
            if self.rest.is_empty() {
                self.newest += 1;
                assert!(self.newest < 100_000, "100 MB were taken, and none is received");
                self.rest = message(self.newest, format!("{:01000}", self.newest).as_bytes());
            }
            match self.stream.write(&self.rest) {
                Ok(written) => self.rest.drain(..written).for_each(drop),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        self.stream.set_write_timeout(None).unwrap();
    }

    /// Writes the rest of the last message.
    fn finish(&mut self) {
        self.stream.write_all(&self.rest).expect("the connection goes on");
    }
}

/// Returns the peak resident memory of a program in KiB.
fn resident_peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    let line =
        status.lines().find(|line| line.starts_with("VmHWM")).expect("the kernel reports it");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn a_process_that_stops_receiving_stops_the_clients_by_tcp_and_memory_stays_bounded() {
    let place = Place::new();
    let mut sink = place.sink();
    // The sockets hold more messages than the credit.
    let (gateway, address) = place.gateway(&["--credit", "10"]);
    let mut stream = connect_with_a_small_buffer(&address);
    let mut acks = Acks::of(&stream);
    stream.write_all(&message(0, b"0")).unwrap();
    acks.wait_for(1);
    assert_eq!(sink.ask("stop"), "stopped");
    let before = resident_peak(gateway.id());
    let mut flood = Flood { stream, newest: 0, rest: Vec::new() };
    until("the gateway has sent on what it may", || {
        flood.fill();
        sink.ask("held") != "0"
    });
    flood.fill();
    // The kernel's counter is approximate: a later peak may be a few pages lower.
    let more = resident_peak(gateway.id()).saturating_sub(before);
    assert!(more < 20 << 10, "{more} KiB more for a client that has to wait");
    assert!(sink.ask("go").contains("go"));
    flood.finish();
    let all = flood.newest + 1;
    acks.wait_for(all);
    let written = place.written();
    assert_eq!(written.values().collect::<Vec<_>>(), [&(0..all).collect::<Vec<_>>()]);
    let peak: u64 = sink.ask("peak").parse().unwrap();
    assert!((1..=10).contains(&peak), "the credit is 10, and {peak} were there");
}

#[test]
fn every_message_acknowledged_as_confirmed_was_written_although_the_beam_was_killed() {
    let place = Place::new();
    let mut sink = place.sink();
    let (gateway, address) = place.gateway(&["--credit", "50"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    let mut acks = Acks::of(&stream);
    stream.write_all(&numbered(0..200)).unwrap();
    acks.wait_for(200);
    // The BEAM is killed while messages are in flight: it has written a batch without confirming it.
    assert_eq!(sink.ask("at 400 stop"), "ok");
    stream.write_all(&numbered(200..2000)).unwrap();
    assert_eq!(sink.line(), "stopped");
    assert_eq!(sink.end("-KILL").0, None);
    // Messages confirmed before the kill are acknowledged before the gateway detects it.
    until("the gateway misses the process", || {
        let errors = std::fs::read_to_string(place.errors()).expect("it is there");
        errors.contains("sink@shop@127.0.0.1 is unavailable")
    });
    acks.drain();
    let written = place.written()[&1].len() as u64;
    assert!(written < 2000 && acks.count < written, "{} acknowledged of {written}", acks.count);

    let _sink = place.sink();
    acks.wait_for(2000);
    // Messages written but not confirmed arrive again, in order.
    let mut known = Vec::new();
    for number in &place.written()[&1] {
        if *number == known.len() as u64 {
            known.push(*number);
        }
    }
    assert_eq!(known.len(), 2000);
    let (status, printed) = gateway.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(printed.contains("forwarded: 2000 messages confirmed"), "{printed}");
}

#[test]
fn acks_of_received_need_no_confirmation_and_credit_set_by_the_process_is_respected() {
    let place = Place::new();
    let mut sink = place.sink();
    let (_gateway, address) = place.gateway(&["--ack-after", "received", "--credit", "10"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    let mut acks = Acks::of(&stream);
    stream.write_all(&numbered(0..1)).unwrap();
    acks.wait_for(1);
    until("the first is confirmed", || sink.ask("count") == "1");
    assert_eq!(sink.ask("credit 3"), "ok");
    assert_eq!(sink.ask("stop"), "stopped");
    // Three are sent and acknowledged one by one; the fourth waits until one is confirmed.
    for id in 1..=3 {
        stream.write_all(&numbered(id..id + 1)).unwrap();
        acks.wait_for(id + 1);
    }
    until("three wait", || sink.ask("held") == "3");
    stream.write_all(&numbered(4..5)).unwrap();
    // WHY real time: that no ack comes is no event. On a slower machine a wrong ack comes later, and then the peak
    // shows it.
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(!acks.may_read(), "acknowledged without credit");
    stream.set_read_timeout(None).unwrap();
    assert!(sink.ask("go").contains("go"));
    acks.wait_for(5);
    until("all are confirmed", || sink.ask("count") == "5");
    assert_eq!(sink.ask("peak"), "3");
    assert_eq!(place.written()[&1], [0, 1, 2, 3, 4]);
}

#[test]
fn the_guides_process_confirms_what_it_has_printed() {
    let guide = include_str!("../../../../docs/ack/forward.md");
    let (_, rest) = guide.split_once("```elixir\n").expect("there is some Elixir");
    let (module, _) = rest.split_once("```").expect("it ends");
    let place = Place::new();
    let script = place.path().join("sink.exs");
    let starts = "{:ok, _} = Shop.Sink.start_link(nil)\nIO.puts(\"ready\")\nIO.gets(\"\")\n";
    std::fs::write(&script, format!("{module}\n{starts}")).unwrap();
    let mut sink = place.elixir(&[script.as_path()]);
    assert_eq!(sink.line(), "ready");
    let (gateway, address) = place.gateway(&["--name", "door@127.0.0.1"]);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&[message(7, b"tea"), message(8, b"milk")].concat()).unwrap();
    assert_eq!((sink.line(), sink.line()), ("1 7 tea".to_owned(), "1 8 milk".to_owned()));
    let (status, printed) = gateway.end("-TERM");
    assert_eq!((status, printed.contains("2 messages confirmed")), (Some(0), true), "{printed}");
}

#[test]
fn invalid_forwarding_arguments_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let no_epmd = format!("127.0.0.1:{port}");
    let to = ["--forward", "sink@shop@127.0.0.1"];
    for (words, due) in [
        (&["--forward", "sink"][..], "sink@shop@127.0.0.1"),
        (&["--ack-after", "received"], "--forward"),
        (&["--cookie", "secret"], "--forward"),
        (&[&to[..], &["--handler", "process"]].concat(), "--handler"),
        (&[&to[..], &["--ack-after", "sent"]].concat(), "confirmed"),
        (&[&to[..], &["--credit", "0"]].concat(), "from 1"),
        (&[&to[..], &["--cookie", "secret", "--epmd", &no_epmd]].concat(), &no_epmd),
    ] {
        let mut command = purlin(folder.path());
        let output = command.args(["ack", "serve"]).args(words).output().expect("purlin runs");
        let printed = line(&output, 2);
        assert!(printed.contains(due), "{words:?}: {printed}");
    }
}

#[test]
fn connections_are_closed_after_the_give_up_time_if_the_process_stays_unavailable() {
    let place = Place::new();
    let (gateway, address) = place.gateway(&["--give-up-after", "0.1"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(&message(0, b"0")).unwrap();
    let mut nothing = Vec::new();
    // End of file or a reset, but no ack.
    let _ = stream.read_to_end(&mut nothing);
    assert!(nothing.is_empty(), "{nothing:?}");
    let (status, printed) = gateway.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(printed.contains("1 by the handler"), "{printed}");
}

#[test]
fn connections_are_closed_after_the_give_up_time_if_the_node_does_not_answer() {
    let place = Place::new();
    // Takes connections and never answers a handshake.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let [high, low] = silent.local_addr().unwrap().port().to_be_bytes();
    let mut epmd = TcpStream::connect(format!("127.0.0.1:{}", place.port)).unwrap();
    // ALIVE2_REQ: a normal node `shop` at that port, versions 6 to 5.
    let request = [120, high, low, 77, 0, 0, 6, 0, 5, 0, 4, b's', b'h', b'o', b'p', 0, 0];
    epmd.write_all(&[&[0, request.len() as u8][..], &request].concat()).unwrap();
    epmd.read_exact(&mut [0]).unwrap();
    let (gateway, address) = place.gateway(&["--give-up-after", "0.1"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.write_all(&message(0, b"0")).unwrap();
    let ended = stream.read(&mut [0]);
    let reset = |error: &io::Error| error.kind() == ErrorKind::ConnectionReset;
    assert!(matches!(&ended, Ok(0)) || ended.as_ref().is_err_and(reset), "{ended:?}");
    let (status, printed) = gateway.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(printed.contains("1 by the handler"), "{printed}");
}

#[test]
fn the_command_ends_with_status_1_if_another_node_has_killed_the_gateway() {
    let place = Place::new();
    let mut sink = place.sink();
    let (mut gateway, address) = place.gateway(&[]);
    send(&address, 0..10);
    assert_eq!(sink.ask("kill"), "ok");
    until("the command ends", || !gateway.goes_on());
    let (status, printed) = gateway.wait();
    let errors = std::fs::read_to_string(place.errors()).expect("it is there");
    assert_eq!(status, Some(1), "{errors}");
    // On a slow machine the sink may be missed at first, and the log may have a hog.
    let own = errors.lines().filter(|line| line.starts_with("purlin ack serve: "));
    let lines: Vec<_> = own.collect();
    assert_eq!(lines, ["purlin ack serve: the gateway was ended: killed"], "{errors}");
    assert!(printed.starts_with("best: 10 messages") && printed.lines().count() == 1, "{printed}");
}
