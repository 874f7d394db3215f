//! TLS channel: one side of a TLS connection, without its socket.
//!
//! The owner of the socket lends it for each call. One process may read while another writes, both
//! through one lock. The channel never waits, unless the lent socket does: a read then waits when
//! it asks the socket, which it does only if no decrypted data is left.
//!
//! *Reading.* Received data is decrypted as far as the caller's buffer has room. The rest is
//! returned by the next read, before the socket is asked; so do not wait for the socket before a
//! read has returned `None`. The end of the stream is the `close_notify` of the other side; a
//! stream that ends without it is truncated, which is an error.
//!
//! *Writing.* Data is encrypted immediately. What does not fit into the socket stays buffered until
//! it is [flushed](Channel::flush), and no more data is accepted before. A write is complete only
//! after a flush. A write error is returned to the next writer; received data can still be read.
//!
//! *The handshake* is driven by reads. Its answers are written by reads as far as the socket has
//! room, and by the next call of any kind otherwise: then [`awaits`](Channel::awaits) also asks for
//! writability.
//!
//! *Errors of the TLS protocol* are of the kind [`InvalidData`](ErrorKind::InvalidData), and are
//! returned after all valid data before them. The alert for the other side is written first, if the
//! socket has room.
//!
//! *Records without data*, such as key updates, are limited per read: it returns `None` after
//! [`MAX_SOCKET_READS`] socket reads without data, although the socket may have more.
//!
//! COST: a read makes at most one system call per [`BLOCK`] bytes, unless they are less than a
//! record; each byte is decrypted and copied three times. A connection that has been read from
//! holds a block until it [rests](Channel::rest).

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

use purlin_socket::now_or_would_block;
use rustls::Connection;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;

use tokio::io::Interest;

use crate::connection::session_table::Fingerprint;
use crate::wire::read_buffer::{INITIAL, ReadBuffer};

/// Encrypted bytes per read.
const BLOCK: usize = 64 << 10;
/// Maximum number of socket reads per read. A full record needs three until the buffer has grown.
const MAX_SOCKET_READS: u32 = 8;

/// TLS channel: one side of a TLS connection, without its socket.
pub(crate) struct Channel {
    connection: Connection,
    /// Encrypted bytes read from the socket and not decrypted yet.
    came: ReadBuffer,
    broken: Option<rustls::Error>,
}

impl Channel {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, came: ReadBuffer::growing(INITIAL, BLOCK), broken: None }
    }

    /// Reads what is available. Returns `None` if nothing is available now, 0 at the end of the
    /// stream. `room` must not be empty.
    pub(crate) fn read<S: Read + Write>(
        &mut self,
        socket: &mut S,
        room: &mut [u8],
    ) -> io::Result<Option<usize>> {
        let (mut count, mut socket_reads) = (0, 0);
        loop {
            match self.connection.reader().read(&mut room[count..]) {
                // The buffer is full, or the stream has ended.
                Ok(0) => return Ok(Some(count)),
                Ok(more) => count += more,
                // WHY any error: the only possible one is that nothing is decrypted.
                Err(_) => match self.decrypt(socket, count == 0, &mut socket_reads) {
                    Ok(true) => {}
                    Ok(false) if count == 0 => return Ok(None),
                    Err(error) if count == 0 => return Err(error),
                    // WHY no error is lost: the next read returns it again.
                    Ok(false) | Err(_) => return Ok(Some(count)),
                },
            }
        }
    }

    /// Writes as much as fits. Returns `None` if the socket is full.
    pub(crate) fn write<S: Write>(
        &mut self,
        socket: &mut S,
        bytes: &[u8],
    ) -> io::Result<Option<usize>> {
        if !self.flush(socket)? {
            return Ok(None);
        }
        let count = self.connection.writer().write(bytes)?;
        self.flush(socket)?;
        Ok(Some(count))
    }

    /// Writes buffered data. Returns whether all of it was written.
    pub(crate) fn flush<S: Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        while self.connection.wants_write() {
            match now_or_would_block(|| self.connection.write_tls(socket))? {
                None => return Ok(false),
                Some(0) => return Err(ErrorKind::WriteZero.into()),
                Some(_) => {}
            }
        }
        Ok(true)
    }

    /// Sends `close_notify`. Returns whether it and all data before it were written.
    pub(crate) fn finish<S: Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        self.connection.send_close_notify();
        self.flush(socket)
    }

    /// Returns the interest to wait for at the socket, for a caller that wants `interest`.
    pub(crate) fn awaits(&self, interest: Interest) -> Interest {
        if self.connection.wants_write() { interest | Interest::WRITABLE } else { interest }
    }

    /// Frees memory until there is something to read.
    pub(crate) fn rest(&mut self) {
        self.came.release();
    }

    /// Returns the capacity of the buffer for encrypted data.
    #[cfg(test)]
    pub(crate) fn buffered(&self) -> usize {
        self.came.capacity()
    }

    /// Returns the SHA-256 digest of the other side's certificate, if it has sent one.
    pub(crate) fn certificate(&self) -> Option<Fingerprint> {
        let certificate = self.connection.peer_certificates()?.first()?;
        let suite = TLS13_AES_128_GCM_SHA256.tls13()?;
        suite.common.hash_provider.hash(certificate).as_ref().try_into().ok()
    }

    /// Decrypts received data, or data read from the socket. Returns `false` if none is
    /// available, or if data must be read from the socket and must not be.
    fn decrypt<S: Read + Write>(
        &mut self,
        socket: &mut S,
        may_read: bool,
        socket_reads: &mut u32,
    ) -> io::Result<bool> {
        if let Some(error) = &self.broken {
            return Err(io::Error::new(ErrorKind::InvalidData, error.clone()));
        }
        self.push(socket);
        if self.came.waiting().is_empty() {
            // WHY limited: the process could neither end nor time out while the other side writes.
            if !may_read || *socket_reads == MAX_SOCKET_READS {
                return Ok(false);
            }
            *socket_reads += 1;
            match now_or_would_block(|| socket.read(self.came.spare(1)))? {
                None => return Ok(false),
                Some(0) => {
                    let cut = "the stream was cut: it ended without a close notification";
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, cut));
                }
                Some(count) => self.came.filled(count),
            }
        }
        let taken = self.connection.read_tls(&mut self.came.waiting())?;
        self.came.consume(taken);
        self.broken = self.connection.process_new_packets().err();
        self.push(socket);
        Ok(true)
    }

    /// Writes what a read has produced, such as handshake messages, as far as the socket has room.
    fn push<S: Write>(&mut self, socket: &mut S) {
        // WHY the error is ignored: the next writer gets it.
        let _ = self.flush(socket);
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("broken", &self.broken).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, LazyLock};

    use proptest::prelude::*;
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
    use rustls::crypto::ring;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

    use super::*;

    /// Simulated sockets with a capacity of `holds` bytes in each direction.
    struct Pipe {
        holds: usize,
        to_server: VecDeque<u8>,
        to_client: VecDeque<u8>,
    }

    /// One side of the pipe.
    struct End<'a> {
        from: &'a mut VecDeque<u8>,
        to: &'a mut VecDeque<u8>,
        holds: usize,
    }

    impl Pipe {
        fn server(&mut self) -> End<'_> {
            End { from: &mut self.to_server, to: &mut self.to_client, holds: self.holds }
        }

        fn client(&mut self) -> End<'_> {
            End { from: &mut self.to_client, to: &mut self.to_server, holds: self.holds }
        }
    }

    impl End<'_> {
        /// Whether a waiting reader would be woken.
        fn is_ready(&self, channel: &Channel) -> bool {
            let awaited = channel.awaits(Interest::READABLE);
            !self.from.is_empty() || (awaited.is_writable() && self.to.len() < self.holds)
        }
    }

    impl Read for End<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            if self.from.is_empty() {
                Err(ErrorKind::WouldBlock.into())
            } else {
                self.from.read(room)
            }
        }
    }

    impl Write for End<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.holds - self.to.len());
            self.to.extend(&bytes[..count]);
            if count == 0 { Err(ErrorKind::WouldBlock.into()) } else { Ok(count) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The configurations of a server, and of a client that trusts it.
    pub(crate) fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
        static CONFIGS: LazyLock<(Arc<ServerConfig>, Arc<ClientConfig>)> = LazyLock::new(|| {
            let made = generate_simple_self_signed(["localhost".to_owned()]).expect("a name");
            let CertifiedKey::<KeyPair> { cert, signing_key } = made;
            let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
            let provider = Arc::new(ring::default_provider());
            let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
                .with_safe_default_protocol_versions()
                .expect("there is one")
                .with_no_client_auth()
                .with_single_cert(vec![cert.der().clone()], key.into())
                .expect("the key fits");
            let mut roots = RootCertStore::empty();
            roots.add(cert.der().clone()).expect("a certificate");
            let client = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .expect("there is one")
                .with_root_certificates(roots)
                .with_no_client_auth();
            (Arc::new(server), Arc::new(client))
        });
        CONFIGS.clone()
    }

    fn channels() -> (Channel, Channel) {
        let (server, client) = configs();
        let name = "localhost".try_into().expect("a name");
        let client = ClientConnection::new(client, name).expect("in order");
        let server = ServerConnection::new(server).expect("in order");
        (Channel::new(server.into()), Channel::new(client.into()))
    }

    fn handshake(server: &mut Channel, client: &mut Channel, pipe: &mut Pipe) {
        let mut room = [0; 100];
        while client.connection.is_handshaking() || server.connection.is_handshaking() {
            assert_eq!(client.read(&mut pipe.client(), &mut room).unwrap(), None);
            assert_eq!(server.read(&mut pipe.server(), &mut room).unwrap(), None);
        }
    }

    /// One side of the pipe, on which writes fail.
    struct Broken<'a>(End<'a>);

    impl Read for Broken<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.0.read(room)
        }
    }

    impl Write for Broken<'_> {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn received_data_is_readable_after_a_write_error() {
        let (mut server, mut client) = channels();
        let mut pipe =
            Pipe { holds: 1 << 20, to_server: VecDeque::new(), to_client: VecDeque::new() };
        let mut room = [0; 100];
        handshake(&mut server, &mut client, &mut pipe);
        assert_eq!(server.write(&mut pipe.server(), b"answer").unwrap(), Some(6));
        let mut broken = Broken(pipe.client());
        let error = client.write(&mut broken, b"message").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        assert_eq!(client.read(&mut broken, &mut room).unwrap(), Some(6));
        assert_eq!(&room[..6], b"answer");
    }

    /// One side of the pipe, of which a read returns one byte.
    struct Trickle<'a> {
        end: End<'a>,
        reads: u32,
    }

    impl Read for Trickle<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.reads += 1;
            self.end.read(&mut room[..1])
        }
    }

    impl Write for Trickle<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.end.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn records_without_data_end_a_read_although_the_socket_has_more() {
        let (mut server, mut client) = channels();
        let mut pipe =
            Pipe { holds: 1 << 20, to_server: VecDeque::new(), to_client: VecDeque::new() };
        handshake(&mut server, &mut client, &mut pipe);
        // WHY few: rustls refuses more than 32 in a row.
        for _ in 0..20 {
            client.connection.refresh_traffic_keys().expect("the version is TLS 1.3");
            client.flush(&mut pipe.client()).unwrap();
        }
        client.write(&mut pipe.client(), b"message").unwrap();
        let (mut room, mut calls) = ([0; 100], 0);
        loop {
            let mut trickle = Trickle { end: pipe.server(), reads: 0 };
            let read = server.read(&mut trickle, &mut room).unwrap();
            assert!(trickle.reads <= MAX_SOCKET_READS, "{} reads", trickle.reads);
            match read {
                None => calls += 1,
                Some(count) => break assert_eq!(&room[..count], b"message"),
            }
        }
        assert!(calls > 20);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn written_bytes_arrive_for_any_socket_capacity(
            lengths in prop::collection::vec(0..40_000usize, 1..8),
            holds in 1..5000usize,
            most in 1..70_000usize,
        ) {
            let (mut server, mut client) = channels();
            let mut pipe = Pipe { holds, to_server: VecDeque::new(), to_client: VecDeque::new() };
            let sent: Vec<u8> =
                lengths.iter().flat_map(|length| 0..*length).map(|at| at as u8).collect();
            let (mut left, mut came) = (&sent[..], Vec::new());
            let (mut answered, mut answers) = (0, 0);
            let mut room = vec![0; most];
            let (mut client_waits, mut server_waits) = (false, false);
            let (mut client_done, mut server_done) = (false, false);
            for turn in 0.. {
                prop_assert!(turn < 1_000_000, "they wait for each other");
                // The client writes everything, closes its side, and reads until the server has
                // closed.
                if !left.is_empty() {
                    let piece = &left[..left.len().min(most)];
                    if let Some(count) = client.write(&mut pipe.client(), piece).unwrap() {
                        left = &left[count..];
                    }
                } else if !client.connection.is_handshaking() && !client_done {
                    client_done = client.finish(&mut pipe.client()).unwrap();
                }
                if !client_waits || pipe.client().is_ready(&client) {
                    let read = client.read(&mut pipe.client(), &mut room).unwrap();
                    client_waits = read.is_none();
                    match read {
                        Some(0) => break,
                        Some(count) => answers += count,
                        None => {}
                    }
                }
                // The server writes once per read, and closes after the client.
                if server_done {
                    server.finish(&mut pipe.server()).unwrap();
                } else if !server_waits || pipe.server().is_ready(&server) {
                    let read = server.read(&mut pipe.server(), &mut room).unwrap();
                    server_waits = read.is_none();
                    if let Some(count) = read {
                        server_done = count == 0;
                        came.extend_from_slice(&room[..count]);
                        answered += server.write(&mut pipe.server(), b"answer").unwrap().unwrap_or(0);
                    }
                }
            }
            prop_assert!(came == sent);
            prop_assert_eq!(answers, answered);
        }
    }
}
