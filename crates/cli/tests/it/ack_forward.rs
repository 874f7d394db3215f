//! `purlin ack serve --forward`: messages from TCP to a process in Elixir, on a real BEAM.

#![forbid(unsafe_code)]
#![cfg(unix)]


use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use purlin::Process;
use purlin_ack::client::Client;
use purlin_ack::session::Level;
use purlin_ack::wire::{Ack, Head, Id, SizeOrder};
use crate::support::nodes::{COOKIE, Port, epmd, free_port};
use crate::support::running::Running;
use crate::support::{line, purlin};

/// Everything but the sink: an epmd and a folder.
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

    /// A node of Elixir's with a process that writes a ledger.
    fn sink(&self) -> Running {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/sink.exs");
        let mut sink = self.elixir(&[Path::new(script), &self.ledger()]);
        assert_eq!(sink.line(), "ready");
        sink
    }

    /// A node of Elixir's that runs a script.
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

    /// The gateway to it, and where it listens.
    fn gateway(&self, words: &[&str]) -> (Running, String) {
        let mut command = purlin(self.path());
        command
            .args(["ack", "serve", "--strategy", "best", "--listen", "127.0.0.1:0"])
            .args(["--forward", "sink@shop@127.0.0.1", "--cookie", COOKIE])
            .args(words)
            .env("ERL_EPMD_PORT", &*self.port)
            .stderr(Stdio::null());
        let mut gateway = Running::start(&mut command);
        let line = gateway.line();
        let (_, address) = line.split_once(" listens on ").expect(&line);
        (gateway, address.to_owned())
    }

    /// The payloads in the ledger as they were written, by connection.
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

/// Sends numbers over a connection of its own, each as text, and waits for all acks.
fn send(address: &str, numbers: std::ops::Range<u64>) {
    let address: std::net::SocketAddr = address.parse().unwrap();
    let node = purlin::Node::builder().workers(1).build().unwrap();
    node.block_on(async move |_: Process<()>| {
        let client = Client::builder(address).session(Level::Handled);
        let client = client.patience(Duration::from_secs(120)).connect().await.expect("it listens");
        for number in numbers {
            client.send(number.to_string().as_bytes()).await.expect("there is room");
        }
        client.close().await.expect("all is acknowledged");
    });
}

#[test]
fn all_messages_arrive_once_and_in_the_order_of_their_connection() {
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
    let (status, told) = gateway.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(told.contains("best: 12000 messages"), "{told}");
    assert!(told.contains("forwarded: 12000 messages confirmed\n"), "{told}");
}

#[test]
fn a_connection_between_the_nodes_that_is_cut_loses_nothing_and_what_came_twice_is_known() {
    let place = Place::new();
    let mut sink = place.sink();
    let (gateway, address) = place.gateway(&["--credit", "300"]);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send(&address, 0..8000));
        let mut cuts = 0;
        while !sending.is_finished() {
            // Only while something is on its way, again and again.
            let before = sink.ask("count");
            while sink.ask("count") == before && !sending.is_finished() {}
            cuts += u32::from(sink.ask("cut") == "true");
        }
        assert!(cuts > 1, "all was sent before a cut");
    });
    let written = &place.written()[&1];
    let first_wrong = (0..).zip(written).find(|(due, found)| due != *found);
    assert_eq!((first_wrong, written.len()), (None, 8000));
    let (_, told) = gateway.end("-TERM");
    assert!(told.contains("forwarded: 8000 messages confirmed"), "{told}");
    assert!(told.contains("sent again"), "{told}");
}

/// A message of the classic protocol.
fn message(id: u64, payload: &[u8]) -> Vec<u8> {
    let head = Head { id: Id::from(id), size: payload.len() as u32 };
    [&head.to_bytes(SizeOrder::Little)[..], payload].concat()
}

/// Reads acks until this message is acknowledged.
fn acknowledged(stream: &mut TcpStream, up_to: u64) {
    let mut newest = None;
    while newest != Some(up_to) {
        let mut ack = [0; 12];
        stream.read_exact(&mut ack).expect("the connection goes on");
        let ack = Ack::from_bytes(ack);
        let due = newest.map_or(0, |newest| newest + 1) + u64::from(ack.skipped);
        assert_eq!(ack.id.number(), due, "acks leave no gap");
        newest = Some(due);
    }
}

/// The most memory that was resident in a program, in KiB.
fn resident_peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("Linux tells");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn a_process_that_takes_nothing_stops_its_clients_by_tcp_and_its_mailbox_and_the_gateway_stay_small()
 {
    let place = Place::new();
    let mut sink = place.sink();
    let (gateway, address) = place.gateway(&["--credit", "100"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    stream.write_all(&message(0, b"0")).unwrap();
    acknowledged(&mut stream, 0);
    assert_eq!(sink.ask("stop"), "stopped");
    let before = resident_peak(gateway.id());
    // Whole messages of one kilobyte, until the sockets are full; a cut one is ended later.
    let mut sent = 0;
    let mut rest = loop {
        sent += 1;
        assert!(sent < 100_000, "100 MB were taken, and nobody takes them");
        let mut bytes = message(sent, format!("{sent:01000}").as_bytes());
        let written = loop {
            match stream.write(&bytes) {
                Ok(written) => bytes.drain(..written).for_each(drop),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break false,
                Err(error) => panic!("{error}"),
            }
            if bytes.is_empty() {
                break true;
            }
        };
        if !written {
            break bytes;
        }
    };
    let more = resident_peak(gateway.id()) - before;
    assert!(more < 20 << 10, "{more} KiB more for a client that has to wait");
    assert!(sink.ask("go").contains("go"));
    stream.set_write_timeout(None).unwrap();
    stream.write_all(&rest).unwrap();
    rest.clear();
    // The first was acknowledged before.
    let mut newest = 0;
    while newest < sent {
        let mut ack = [0; 12];
        stream.read_exact(&mut ack).expect("the connection goes on");
        newest = Ack::from_bytes(ack).id.number();
    }
    let written = place.written();
    assert_eq!(written.values().collect::<Vec<_>>(), [&(0..=sent).collect::<Vec<_>>()]);
    let peak: u64 = sink.ask("peak").parse().unwrap();
    assert!(peak <= 100, "the credit is 100, and {peak} were there");
}

#[test]
fn what_was_acknowledged_as_confirmed_was_confirmed_though_the_beam_is_killed_and_comes_back() {
    let place = Place::new();
    let sink = place.sink();
    let (gateway, address) = place.gateway(&["--credit", "50"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    let mut acks = stream.try_clone().unwrap();
    let writes = std::thread::spawn(move || {
        for id in 0..20_000 {
            stream.write_all(&message(id, id.to_string().as_bytes())).unwrap();
        }
        stream
    });
    // Killed while all is under way: when something is acknowledged, and by far not everything.
    let mut first = [0; 12];
    acks.read_exact(&mut first).unwrap();
    assert_eq!(sink.end("-KILL").0, None);
    let mut newest = Ack::from_bytes(first).id.number();
    assert!(newest < 19_000, "{newest}: all was over before");
    acks.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    // What was confirmed before it ended may still be acknowledged now.
    loop {
        let mut ack = [0; 12];
        match acks.read_exact(&mut ack) {
            Ok(()) => newest = Ack::from_bytes(ack).id.number(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    let confirmed = &place.written()[&1];
    assert!(newest < confirmed.len() as u64, "{newest} acknowledged, {} known", confirmed.len());
    acks.set_read_timeout(None).unwrap();

    let _sink = place.sink();
    while newest < 19_999 {
        let mut ack = [0; 12];
        acks.read_exact(&mut ack).expect("the connection has waited");
        newest = Ack::from_bytes(ack).id.number();
    }
    drop(writes.join().unwrap());
    // What was written and not confirmed comes again, in order.
    let mut known = Vec::new();
    for number in &place.written()[&1] {
        if *number == known.len() as u64 {
            known.push(*number);
        }
    }
    assert_eq!(known.len(), 20_000);
    let (status, told) = gateway.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(told.contains("forwarded: 20000 messages confirmed"), "{told}");
}

#[test]
fn received_is_acknowledged_while_nothing_is_confirmed_and_credit_is_what_the_process_says() {
    let place = Place::new();
    let mut sink = place.sink();
    let (_gateway, address) = place.gateway(&["--ack-after", "received", "--credit", "10"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(&message(0, b"0")).unwrap();
    let mut ack = [0; 12];
    stream.read_exact(&mut ack).unwrap();
    while sink.ask("count") != "1" {}
    assert_eq!(sink.ask("credit 3"), "ok");
    assert_eq!(sink.ask("stop"), "stopped");
    // Three go out and are acknowledged, one by one; the fourth waits until one is confirmed.
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    for id in 1..=3 {
        stream.write_all(&message(id, id.to_string().as_bytes())).unwrap();
        stream.read_exact(&mut ack).unwrap();
        assert_eq!(Ack::from_bytes(ack).id.number(), id);
    }
    stream.write_all(&message(4, b"4")).unwrap();
    let waits = stream.read_exact(&mut ack).expect_err("there is no credit");
    assert_eq!(waits.kind(), ErrorKind::WouldBlock);
    assert!(sink.ask("go").contains("go"));
    stream.set_read_timeout(None).unwrap();
    stream.read_exact(&mut ack).unwrap();
    while sink.ask("count") != "5" {}
    assert_eq!(place.written()[&1], [0, 1, 2, 3, 4]);
}

#[test]
fn the_process_of_the_guide_confirms_what_it_has_printed() {
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
    let (status, told) = gateway.end("-TERM");
    assert_eq!((status, told.contains("2 messages confirmed")), (Some(0), true), "{told}");
}

#[test]
fn what_cannot_be_forwarded_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let nobody = format!("127.0.0.1:{port}");
    let to = ["--forward", "sink@shop@127.0.0.1"];
    for (words, due) in [
        (&["--forward", "sink"][..], "sink@shop@127.0.0.1"),
        (&["--ack-after", "received"], "--forward"),
        (&["--cookie", "secret"], "--forward"),
        (&[&to[..], &["--handler", "process"]].concat(), "--handler"),
        (&[&to[..], &["--ack-after", "sent"]].concat(), "confirmed"),
        (&[&to[..], &["--credit", "0"]].concat(), "from 1"),
        (&[&to[..], &["--cookie", "secret", "--epmd", &nobody]].concat(), &nobody),
    ] {
        let mut command = purlin(folder.path());
        let output = command.args(["ack", "serve"]).args(words).output().expect("purlin runs");
        let told = line(&output, 2);
        assert!(told.contains(due), "{words:?}: {told}");
    }
}

#[test]
fn who_waits_for_a_process_that_stays_away_is_closed_after_the_patience() {
    let place = Place::new();
    let (gateway, address) = place.gateway(&["--patience", "1"]);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(&message(0, b"0")).unwrap();
    let mut nothing = Vec::new();
    // An end or a reset, and no ack.
    let _ = stream.read_to_end(&mut nothing);
    assert!(nothing.is_empty(), "{nothing:?}");
    let (status, told) = gateway.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(told.contains("1 by the handler"), "{told}");
}
