//! One end of a TLS connection, without its socket.
//!
//! Whoever has the socket lends it for each call. One process may read while another
//! writes, both through one lock. Nothing here waits, unless what is lent does: then a
//! read waits where it asks the socket, which it does only if it has found nothing.
//!
//! *Reading.* What came is decrypted as far as there is room for it. What is left is
//! read next, before the socket is asked; so nobody may wait for the socket before a
//! read has found nothing. The end is what the other side calls the end, by
//! `close_notify`; a stream that ends without it has been cut, which is an error.
//!
//! *Writing.* What is written is encrypted at once. What the socket has no room for
//! stays behind until it is [flushed](Channel::flush), and nothing more is taken
//! before. So a writer is done when all is flushed, and not earlier. That nothing can
//! be written any more is told to who writes; what came before can still be read.
//!
//! *The handshake* is driven by reading; its answers are written by that too, as far as
//! there is room, and the rest by the next call of whatever kind: what to
//! [wait](Channel::awaits) for is then more than something to read.
//!
//! *What is not TLS*, or not as it should be, is an error of the kind
//! [`InvalidData`](ErrorKind::InvalidData), behind all that was good before it. The
//! alert that tells the other side why is written first, if there is room.
//!
//! COST: a read is at most one system call for [`BLOCK`] bytes, unless they are less
//! than a record; each byte is copied three times besides being decrypted. A connection
//! that has been read from holds a block until it [rests](Channel::rest).

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

use rustls::Connection;
use tokio::io::Interest;

use crate::attempt::at_once;
use crate::inbuf::InBuf;

/// How many encrypted bytes are read at a time.
const BLOCK: usize = 64 << 10;
/// How many, until so much comes at once.
const LITTLE: usize = 4 << 10;

/// One end of a TLS connection, without its socket.
pub(crate) struct Channel {
    connection: Connection,
    /// What was read from the socket and has not been looked at.
    came: InBuf,
    broken: Option<rustls::Error>,
}

impl Channel {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, came: InBuf::growing(LITTLE, BLOCK), broken: None }
    }

    /// Reads what there is; `None` if there is nothing now, 0 if there will be nothing more. There has
    /// to be room.
    pub(crate) fn read<S: Read + Write>(
        &mut self,
        socket: &mut S,
        room: &mut [u8],
    ) -> io::Result<Option<usize>> {
        let mut count = 0;
        loop {
            match self.connection.reader().read(&mut room[count..]) {
                // There is no room left, or it is the end.
                Ok(0) => return Ok(Some(count)),
                Ok(more) => count += more,
                // WHY whatever it is: it can only be that nothing is decrypted.
                Err(_) => match self.decrypt(socket, count == 0) {
                    Ok(true) => {}
                    Ok(false) if count == 0 => return Ok(None),
                    Err(error) if count == 0 => return Err(error),
                    // WHY no error is lost: it comes again.
                    Ok(false) | Err(_) => return Ok(Some(count)),
                },
            }
        }
    }

    /// Writes what there is room for; `None` if there is no room now.
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

    /// Writes what has stayed behind; whether all of it went.
    pub(crate) fn flush<S: Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        while self.connection.wants_write() {
            match at_once(|| self.connection.write_tls(socket))? {
                None => return Ok(false),
                Some(0) => return Err(ErrorKind::WriteZero.into()),
                Some(_) => {}
            }
        }
        Ok(true)
    }

    /// Says to the other side that nothing more will be written; whether that, and all before it, went.
    pub(crate) fn finish<S: Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        self.connection.send_close_notify();
        self.flush(socket)
    }

    /// What to wait for at the socket, for who wants to do this.
    pub(crate) fn awaits(&self, interest: Interest) -> Interest {
        if self.connection.wants_write() { interest | Interest::WRITABLE } else { interest }
    }

    /// Gives memory back until there is something to read again.
    pub(crate) fn rest(&mut self) {
        self.came.release();
    }

    /// Decrypts some of what came, or is there to be read from the socket; `false` if there is nothing.
    fn decrypt<S: Read + Write>(&mut self, socket: &mut S, may_read: bool) -> io::Result<bool> {
        if let Some(error) = &self.broken {
            return Err(io::Error::new(ErrorKind::InvalidData, error.clone()));
        }
        self.push(socket);
        if self.came.waiting().is_empty() {
            if !may_read {
                return Ok(false);
            }
            match at_once(|| socket.read(self.came.room(1)))? {
                None => return Ok(false),
                Some(0) => {
                    let cut = "the stream was cut: it ended, and nobody had said so";
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, cut));
                }
                Some(count) => self.came.filled(count),
            }
        }
        let taken = self.connection.read_tls(&mut self.came.waiting())?;
        self.came.used(taken);
        self.broken = self.connection.process_new_packets().err();
        self.push(socket);
        Ok(true)
    }

    /// Writes what a read has to say, as far as there is room.
    fn push<S: Write>(&mut self, socket: &mut S) {
        // WHY whether it can be written or not: that is told to the next who writes.
        let _ = self.flush(socket);
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("broken", &self.broken).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, LazyLock};

    use proptest::prelude::*;
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
    use rustls::crypto::ring;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

    use super::*;

    /// Sockets that are full as soon as they hold so many bytes.
    struct Pipe {
        holds: usize,
        to_server: VecDeque<u8>,
        to_client: VecDeque<u8>,
    }

    /// One side's end of it.
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
        /// Whether whoever waits to read goes on.
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

    fn channels() -> (Channel, Channel) {
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
        let (server, client) = &*CONFIGS;
        let name = "localhost".try_into().expect("a name");
        let client = ClientConnection::new(Arc::clone(client), name).expect("in order");
        let server = ServerConnection::new(Arc::clone(server)).expect("in order");
        (Channel::new(server.into()), Channel::new(client.into()))
    }

    /// One side's end, on which nothing can be written any more.
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
    fn what_came_is_read_though_nothing_can_be_written_any_more() {
        let (mut server, mut client) = channels();
        let mut pipe =
            Pipe { holds: 1 << 20, to_server: VecDeque::new(), to_client: VecDeque::new() };
        let mut room = [0; 100];
        while client.connection.is_handshaking() || server.connection.is_handshaking() {
            assert_eq!(client.read(&mut pipe.client(), &mut room).unwrap(), None);
            assert_eq!(server.read(&mut pipe.server(), &mut room).unwrap(), None);
        }
        assert_eq!(server.write(&mut pipe.server(), b"answer").unwrap(), Some(6));
        let mut broken = Broken(pipe.client());
        let error = client.write(&mut broken, b"message").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        assert_eq!(client.read(&mut broken, &mut room).unwrap(), Some(6));
        assert_eq!(&room[..6], b"answer");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_comes_out_whatever_there_is_room_for(
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
                // The client writes all, says so, and reads until the server has said so.
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
                // The server writes once for each read, and ends after the client.
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
