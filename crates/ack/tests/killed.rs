//! A server that is killed and started again while a client keeps sending: nothing that was acknowledged
//! is lost, and with a durable session nothing is handled twice. The server is a program of its own, which
//! is this one.

mod common;

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use common::{anywhere, connect, exactly, message, start};
use purlin::Node;
use purlin_ack::checked::Checked;
use purlin_ack::frames::{Frame, Frames};
use purlin_ack::handler::File;
use purlin_ack::server::Server;
use purlin_ack::session::{ANSWER, Answer, Level, NAME, Opening};
use purlin_ack::wire::{HEAD, SizeOrder};

/// Says that this is the server, and where it stores what it gets.
const STORE: &str = "PURLIN_ACK_STORE";
const MESSAGES: u64 = 5000;
const KILLS: u64 = 5;

#[test]
fn the_server_that_is_killed() {
    let Some(path) = env::var_os(STORE) else { return };
    let node = Node::builder().workers(1).build().expect("a node starts");
    let file = File::open(&node, path).expect("it can be written");
    let server = start(Server::builder(anywhere()).handler(move |_| file.clone()));
    println!("\nlistening on {}", server.address());
    // Until it is killed, or whoever started it has gone.
    let _ = io::stdin().read(&mut [0]);
}

fn server(store: &Path) -> (Child, SocketAddr) {
    let mut child = Command::new(env::current_exe().expect("this is a program"))
        .args(["--exact", "the_server_that_is_killed", "--nocapture"])
        .env(STORE, store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut lines = lines.map(|line| line.expect("it is text"));
    let address = lines.find_map(|line| line.strip_prefix("listening on ")?.parse().ok());
    (child, address.expect("it listens"))
}

/// Opens the session; what is stored of it.
fn open(stream: &mut TcpStream) -> Option<u64> {
    let opening = Opening { client: [7; 16], epoch: 1, level: Level::Durable };
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    let answer: [u8; ANSWER] = exactly(stream).expect("the server answers");
    match Answer::of(&Frame { id: NAME, payload: &answer[HEAD..] }).expect("an answer") {
        Answer::Opened(opened) => opened.newest,
        Answer::Refused(status) => panic!("{status}"),
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_stored_twice() {
    let store = env::temp_dir().join(format!("purlin-ack-killed-{}", std::process::id()));
    let mut acknowledged = None;
    for target in (1..=KILLS).map(|kill| MESSAGES * kill / KILLS - 1) {
        let (mut child, address) = server(&store);
        let mut stream = connect(address);
        let newest = open(&mut stream);
        assert!(newest >= acknowledged, "acknowledged up to {acknowledged:?}, and then {newest:?}");
        let mut checked = Checked::session(newest);
        let mut writer = stream.try_clone().expect("there is a descriptor");
        let sending = thread::spawn(move || {
            let first = newest.map_or(0, |newest| newest + 1);
            // It fails when the server is killed.
            (first..MESSAGES)
                .map(|id| message(id, &id.to_le_bytes(), SizeOrder::Little))
                .all(|bytes| writer.write_all(&bytes).is_ok())
        });
        let mut room = [0; 4096];
        while checked.newest().is_none_or(|newest| newest < target) {
            let count = stream.read(&mut room).expect("the server acknowledges");
            assert!(count > 0, "the server has closed");
            let mut bytes = &room[..count];
            while checked.take(&mut bytes).expect("acks leave no gap").is_some() {}
        }
        acknowledged = checked.newest();
        child.kill().expect("it lives");
        child.wait().expect("it has been killed");
        // The writer is told by the connection.
        let _ = stream.shutdown(Shutdown::Both);
        sending.join().expect("it ends");
    }
    let bytes = fs::read(&store).expect("it is there");
    fs::remove_file(&store).expect("it is there");
    let frames = Frames::new(&bytes, SizeOrder::Little, u32::MAX);
    let stored = frames.filter(|frame| frame.id != NAME).map(|frame| frame.id.number());
    assert!(stored.eq(0..MESSAGES), "each message is stored once, in order");
}
