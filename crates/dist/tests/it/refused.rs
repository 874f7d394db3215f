//! Unauthenticated and broken peers: each costs one log line and its connection, and nothing else. An invalid message
//! costs itself alone.

use std::net::Ipv4Addr;
use std::time::Duration;

use crate::log::Log;
use crate::pair::{frame, link, message, pair, pid};
use purlin_dist::connect::{self, Lengths, NoConnection, answer};
use purlin_dist::control::{Control, To};
use purlin_dist::frame::{Broken, Limits, Signal};
use purlin_dist::handshake::{Caller, Established, LocalNode, Refused, Verdict};
use purlin_dist::link::{Ended, Settings};
use purlin_dist::{Accepted, Cookie, Flags, Listener};
use purlin_term::{Reason, Term};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use tokio::net::TcpStream;
use tokio::time::{Instant, advance, timeout};

fn local(name: &str) -> LocalNode {
    LocalNode { name: name.parse().expect("a name"), creation: 1, flags: Flags::OFFERED }
}

fn welcome(_: &Caller) -> (Verdict, Cookie) {
    (Verdict::Ok, Cookie::new("right"))
}

/// Returns a listening node and a connection to it.
async fn listening() -> (Listener, TcpStream) {
    let (socket, address) = Listener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let listener = Listener::new(socket, local("b@h"), welcome);
    (listener, TcpStream::connect(address).await.expect("it listens"))
}

/// `a@h` connects to `b@h` with that cookie.
async fn calls<S>(stream: &mut S, cookie: &str) -> Result<Established, NoConnection>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (us, peer) = (local("a@h"), local("b@h").name);
    connect::call(stream, Lengths::Two, &us, peer, Cookie::new(cookie), || true).await
}

/// Returns the next peer that has completed the handshake.
async fn came_up(listener: &mut Listener) -> Established {
    loop {
        if let Accepted::Up(_, established) = listener.next().await {
            return established;
        }
    }
}

/// Waits until the other side has closed the connection.
async fn closed(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    // The connection is reset if data were unread.
    let _ = stream.read_to_end(&mut bytes).await;
}

#[tokio::test]
async fn a_caller_with_a_wrong_cookie_is_refused_in_one_line() {
    let log = Log::new();
    let (mut listener, mut stream) = listening().await;
    let call = calls(&mut stream, "wrong");
    let (refused, came) = tokio::join!(call, listener.next());
    assert!(matches!(refused, Err(NoConnection::HungUp)), "{refused:?}");
    assert!(matches!(came, Accepted::Failed(_)), "no connection is accepted");
    log.is_one_line_with("a handshake was refused: it does not know the cookie");
}

#[tokio::test]
async fn an_acceptor_with_a_wrong_cookie_is_refused() {
    let (mut here, mut there) = duplex(4096);
    let call = calls(&mut here, "wrong");
    let (called, answered) = tokio::join!(call, async move {
        // An acceptor that accepts every caller, and sends a digest made with its own cookie.
        let answered = answer(&mut there, Lengths::Two, local("b@h"), welcome).await;
        drop(there);
        answered
    });
    assert!(matches!(answered, Err(NoConnection::Refused(Refused::WrongCookie))));
    assert!(matches!(called, Err(NoConnection::HungUp)), "{called:?}");
}

#[tokio::test]
async fn silent_callers_keep_no_one_out() {
    let (mut listener, first) = listening().await;
    let address = first.peer_addr().expect("it is connected");
    let mut silent = vec![first];
    // More than the limit of concurrent handshakes with one address.
    while silent.len() < 200 {
        silent.push(TcpStream::connect(address).await.expect("it listens"));
    }
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let (called, came) = tokio::join!(calls(&mut stream, "right"), came_up(&mut listener));
    assert_eq!(came.peer, local("a@h").name);
    assert_eq!(called.expect("it is let in").peer, local("b@h").name);
    // The oldest have given way.
    closed(&mut silent[0]).await;
}

#[tokio::test]
async fn a_panic_in_a_handshake_is_reported_as_a_failure_of_that_node() {
    let (socket, address) = Listener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let decide = |caller: &Caller| match caller.name.as_str() {
        "a@h" => panic!("a fault of the program"),
        _ => welcome(caller),
    };
    let mut listener = Listener::new(socket, local("b@h"), decide);
    let mut faulty = TcpStream::connect(address).await.expect("it listens");
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let other = local("c@h");
    let call = async {
        calls(&mut faulty, "right").await.expect_err("it has panicked");
        let (us, cookie) = (local("b@h").name, Cookie::new("right"));
        connect::call(&mut stream, Lengths::Two, &other, us, cookie, || true).await
    };
    let (called, came) = tokio::join!(call, came_up(&mut listener));
    assert_eq!((called.is_ok(), came.peer), (true, other.name));
}

#[tokio::test]
async fn garbage_instead_of_a_handshake_is_refused_in_one_line() {
    for (bytes, line) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "a frame of 18245 bytes; a handshake needs at most"),
        (b"\0\x05hello", "not a handshake: a name was due"),
        (b"\0\0", "not a handshake: a name was due"),
    ] {
        let log = Log::new();
        let (mut listener, mut stream) = listening().await;
        stream.write_all(bytes).await.expect("it listens");
        tokio::select! {
            () = closed(&mut stream) => {}
            _ = came_up(&mut listener) => panic!("no connection is accepted"),
        }
        log.is_one_line_with(line);
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_or_slow_caller_is_refused_within_the_handshake_timeout() {
    for slowly in [false, true] {
        let (mut here, mut there) = duplex(4096);
        let talks = tokio::spawn(async move {
            let mut clock = tokio::time::interval(Duration::from_secs(1));
            while slowly && there.write_all(&[0]).await.is_ok() {
                clock.tick().await;
            }
            there
        });
        // CLOCK: tokio's, which is paused.
        let start = Instant::now();
        let answered = answer(&mut here, Lengths::Two, local("b@h"), welcome).await;
        // Two zero bytes are a frame of length 0, which is not a name.
        match slowly {
            false => assert!(matches!(answered, Err(NoConnection::Slow))),
            true => assert!(matches!(answered, Err(NoConnection::Refused(_)))),
        }
        assert!(start.elapsed() <= connect::HANDSHAKE_TIMEOUT);
        talks.abort();
    }
}

#[tokio::test]
async fn a_frame_of_four_gigabytes_ends_the_connection() {
    let log = Log::new();
    let (link, _signals, mut there) = link(Settings::default());
    there.write_all(b"\xff\xff\xff\xff\x83\x44").await.expect("it reads");
    assert_eq!(link.ended().await, Ended::Broken(Broken::TooLong(u32::MAX)));
    log.is_one_line_with("a frame of 4294967295 bytes, more than allowed");
}

#[tokio::test]
async fn garbage_instead_of_a_frame_ends_the_connection() {
    let log = Log::new();
    let (link, _signals, mut there) = link(Settings::default());
    there.write_all(b"\0\0\0\x05hello").await.expect("it reads");
    assert_eq!(link.ended().await, Ended::Broken(Broken::Unknown));
    log.is_one_line_with("a frame that begins like none");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_never_ticks_is_disconnected() {
    let log = Log::new();
    let (link, _signals, mut there) = link(Settings::default());
    // CLOCK: tokio's, which is paused.
    let start = Instant::now();
    let mut ticks = Vec::new();
    let (ended, read) = tokio::join!(link.ended(), there.read_to_end(&mut ticks));
    assert_eq!(ended, Ended::IdleTimeout);
    read.expect("the stream ends");
    // The silence is detected within a quarter of the tick time, and a tick is sent every quarter.
    assert!((45..=75).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    assert!(ticks.len() >= 3 * 4 && ticks.iter().all(|byte| *byte == 0), "{ticks:?}");
    log.is_one_line_with("silent for the tick time");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_ticks_and_reads_nothing_is_disconnected_and_one_that_reads_slowly_is_not() {
    for reads in [false, true] {
        let log = Log::new();
        let (link, _signals, there) = link(Settings::default());
        let (mut read, mut write) = tokio::io::split(there);
        let peer = tokio::spawn(async move {
            let mut clock = tokio::time::interval(Duration::from_secs(5));
            while write.write_all(&[0; 4]).await.is_ok() {
                clock.tick().await;
                if reads {
                    read.read_exact(&mut [0; 100]).await.expect("the stream goes on");
                }
            }
        });
        // More than the stream holds.
        let payload = Term::from(vec![7; 50_000].as_slice());
        for from in 1..4 {
            link.signal(message(from, payload.clone())).expect("it is up");
        }
        let ended = timeout(Duration::from_secs(600), link.ended()).await;
        if reads {
            assert!(ended.is_err(), "{ended:?}");
            assert_eq!(log.lines(), Vec::<String>::new());
        } else {
            assert_eq!(ended, Ok(Ended::SlowReader));
            log.is_one_line_with("disconnected: the other node has read nothing for the tick time");
        }
        peer.abort();
    }
}

// The clock is monotonic and cannot be set, but jumps ahead after the machine was suspended.
#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_ahead_ends_no_connection() {
    let log = Log::new();
    let (a, b, mut signals) = pair(Settings::default());
    for hours in 1..20 {
        advance(Duration::from_secs(3600 * hours)).await;
        a.send(message(1, Term::from(hours))).await.expect("it goes on");
        let Signal { payload, .. } = signals.recv().await.expect("it goes on");
        assert_eq!(payload, Some(Term::from(hours)));
    }
    assert!(timeout(Duration::from_secs(1), a.ended()).await.is_err());
    assert!(timeout(Duration::from_secs(1), b.ended()).await.is_err());
    assert_eq!(log.lines(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_floods_us_is_slowed_down_without_loss() {
    let (link, mut signals, mut there) = link(Settings::default());
    let payload = Term::from([7; 1000].as_slice());
    let bytes = frame(message(1, payload.clone()), Flags::REQUIRED);
    let mut count = 0;
    while timeout(Duration::from_secs(1), there.write_all(&bytes)).await.is_ok() {
        count += 1;
    }
    // The stream holds 64 KiB, the reader as much, the channel four signals.
    assert!((60..400).contains(&count), "{count}");
    // The link is not ended even after an hour: the receiver is on our side.
    assert!(timeout(Duration::from_secs(3600), link.ended()).await.is_err());
    for _ in 0..count {
        let signal = signals.recv().await.expect("it goes on");
        assert_eq!(signal.payload.as_ref(), Some(&payload));
    }
}

/// Returns a frame without a header, of a message with this payload.
fn passed_through(payload: &[u8]) -> Vec<u8> {
    let nothing = frame(message(1, Term::NIL), Flags::REQUIRED);
    // Without the length, and without the empty list and its version byte.
    let control = &nothing[4..nothing.len() - 2];
    let length = (control.len() + payload.len()) as u32;
    [&length.to_be_bytes(), control, payload].concat()
}

#[tokio::test(start_paused = true)]
async fn an_oversized_or_malformed_message_is_dropped_alone() {
    let mut deep = vec![131];
    for _ in 0..1_000_000 {
        deep.extend_from_slice(&[108, 0, 0, 0, 1]);
    }
    let bomb = [&[131, 80][..], &u32::MAX.to_be_bytes(), b"\x78\x9c\x03\0"].concat();
    let huge = [&[131, 109][..], &u32::MAX.to_be_bytes(), b"some"].concat();
    let not_its_own = Control::Link { from: pid("c@h", 5), to: pid("a@h", 1) };
    let (from, to) = (pid("c@h", 5), To::Pid(pid("a@h", 1)));
    let forged_exit = Control::Altact { priority: false, exit: true, from, to, token: None };
    let forged_exit = Signal { control: forged_exit, payload: Some(Term::atom("kill")) };
    let unknown = b"\0\0\0\x06\x70\x83\x68\x01\x61\x63".to_vec();
    for (bytes, reason) in [
        (passed_through(&deep), Reason::Depth.to_string()),
        (passed_through(&bomb), Reason::Memory.to_string()),
        (passed_through(&huge), Reason::Ended.to_string()),
        (passed_through(&[131, 255]), Reason::Tag(255).to_string()),
        (passed_through(&[131, 106, 106]), "bytes after the message".to_owned()),
        (
            frame(Signal { control: not_its_own, payload: None }, Flags::OFFERED),
            "a signal on behalf of process 5.0 of c@h, another node".to_owned(),
        ),
        (
            frame(forged_exit, Flags::OFFERED),
            "a signal on behalf of process 5.0 of c@h, another node".to_owned(),
        ),
        (unknown, "control message 99: unknown".to_owned()),
    ] {
        let log = Log::new();
        let (link, mut signals, mut there) = link(Settings::default());
        for number in 0..3 {
            // The last one comes after the period in which one line is logged.
            if number == 2 {
                advance(Duration::from_secs(1)).await;
            }
            there.write_all(&bytes).await.expect("it reads");
            let good = message(1, Term::from(number));
            there.write_all(&frame(good, Flags::REQUIRED)).await.expect("it reads");
            let next = signals.recv().await.expect("the link stays");
            assert_eq!(next.payload, Some(Term::from(number)));
        }
        assert_eq!(link.traffic().dropped, 3);
        // The end of the link before may be logged here too.
        let mut lines = log.lines();
        lines.retain(|line| line.contains("dropped an incoming message"));
        let [first, last] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(first.contains(&reason) && first.contains("messages=1"), "{first}");
        assert!(last.contains("messages=2"), "{last}");
    }
}

#[tokio::test]
async fn a_message_of_more_fragments_than_allowed_is_dropped_alone() {
    let limits = Limits { fragments: 10_000, ..Limits::default() };
    let (link, mut signals, mut there) = link(Settings { limits, ..Settings::default() });
    for left in (1..10u64).rev() {
        let kind = if left == 9 { 69 } else { 70 };
        let table: &[u8] = if left == 9 { b"\0" } else { b"" };
        let head = [&[131, kind][..], &7u64.to_be_bytes(), &left.to_be_bytes(), table].concat();
        let length = (head.len() as u32 + 2000).to_be_bytes();
        let bytes = [&length[..], &head, &[0; 2000]].concat();
        there.write_all(&bytes).await.expect("it reads");
    }
    let good = message(1, Term::from("good"));
    there.write_all(&frame(good.clone(), Flags::REQUIRED)).await.expect("it reads");
    assert_eq!(signals.recv().await, Some(good));
    assert_eq!(link.traffic().dropped, 1);
}
