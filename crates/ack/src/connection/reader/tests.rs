//! Requests to free the buffer.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};

use purlin::Node;

use super::*;
use crate::connection::budget::Budget;
use crate::tls::server::Tls;
use crate::wire::read_buffer::INITIAL;

/// Runs a connection process with the client's stream.
fn connection<F>(run: impl FnOnce(Reader, TcpStream) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    connection_over(None, run);
}

fn connection_over<F>(tls: Option<Tls>, run: impl FnOnce(Reader, TcpStream) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    let node = Node::builder().workers(1).build().expect("a node starts");
    node.block_on(async move |me: Process<Exit>| {
        me.trap_exit(true);
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
        let address = listener.local_addr().expect("it is bound");
        let client = TcpStream::connect(address).expect("the port is open");
        let (stream, _) = listener.accept().expect("a client has connected");
        let socket = Socket::new(stream, tls.as_ref()).expect("it is open");
        let charge = Budget::new(1 << 20).charge(Arc::new(Idle::new(me.pid())));
        run(Reader::new(me, socket, Duration::MAX, charge), client).await;
    });
    node.stop_blocking();
}

/// Asks the connection to free its buffer, `times` times, and then to end.
fn ask(reader: &Reader, times: usize) {
    let process = reader.process().pid();
    for _ in 0..times {
        process.exit(ExitReason::shutdown_with(CloseReason::OverBudget));
    }
    process.exit(ExitReason::Shutdown);
}

#[test]
fn connection_that_has_freed_its_buffer_reads_before_it_waits() {
    connection(async |mut reader, mut client| {
        let mut buffer = ReadBuffer::growing(INITIAL, 64 << 10);
        // WHY more than the free bytes: the read after it is charged.
        client.write_all(&[7; INITIAL + 1]).expect("there is room");
        while reader.charge.capacity() == FREE {
            reader.fill(&mut buffer, 1, Amount::Available).await.expect("data arrives");
            buffer.consume(buffer.waiting().len());
        }
        client.write_all(b"next").expect("there is room");
        reader.socket.ready(Interest::READABLE).await.expect("data arrives");
        ask(&reader, 1);
        // A wait would receive the second signal.
        reader.fill(&mut buffer, 1, Amount::Available).await.expect("data has arrived");
        assert_eq!(buffer.waiting(), b"next");
    });
}

#[test]
fn connection_without_a_charge_ignores_requests_to_free_its_buffer() {
    connection(async |mut reader, _client| {
        let mut buffer = ReadBuffer::growing(INITIAL, 64 << 10);
        // The first request is found before the read, and the second one by the wait.
        ask(&reader, 2);
        let end = reader.fill(&mut buffer, 1, Amount::Available).await;
        assert!(matches!(end, Err(CloseReason::ExitSignal(ExitReason::Shutdown))), "{end:?}");
    });
}

#[cfg(feature = "tls")]
#[test]
fn beginning_of_a_tls_record_keeps_no_large_buffer_while_the_client_is_silent() {
    let tls = crate::tls::server_for_tests();
    connection_over(Some(tls), async |mut reader, mut client| {
        let (socket, mut buffer) = (reader.socket(), ReadBuffer::growing(INITIAL, 64 << 10));
        // The beginning of a handshake record of 16 KiB, longer than the first read.
        let mut record = vec![22, 3, 1, 0x40, 0];
        let header = record.len();
        record.resize(6000, 0);
        let sends = async {
            // WHY real time: buffers are freed a second after the last byte, and once more after these.
            let mut looks = tokio::time::interval(Duration::from_millis(1));
            let mut until = async |condition: &(dyn Fn(usize) -> bool + Sync)| {
                while !condition(socket.buffered()) {
                    looks.tick().await;
                }
            };
            client.write_all(&record[..header]).expect("there is room");
            until(&|bytes| bytes > header).await;
            until(&|bytes| bytes <= header).await;
            client.write_all(&record[header..]).expect("there is room");
            until(&|bytes| bytes > record.len()).await;
            until(&|bytes| bytes <= record.len()).await;
        };
        tokio::select! {
            end = reader.fill(&mut buffer, 1, Amount::Available) => panic!("{end:?}"),
            () = sends => {}
        }
    });
}
