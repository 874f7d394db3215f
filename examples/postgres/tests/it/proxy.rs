//! Proxy between a server and its database, which cuts a connection at a COMMIT.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use purlin_polling::HANG;

/// When the server loses its connection at the next COMMIT.
pub(crate) enum Cut {
    /// The database does not receive the COMMIT.
    Before,
    /// The database has committed, and the server does not receive the answer.
    After,
    /// The database receives the COMMIT later, at the signal of the test.
    Held(Receiver<()>),
}

/// A proxy that runs until the test ends.
pub(crate) struct Proxy {
    port: u16,
    next: Arc<Mutex<Option<Cut>>>,
    cuts: Receiver<()>,
}

impl Proxy {
    /// Starts a proxy to the database whose socket is in this folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let socket = folder.join(".s.PGSQL.5432");
        let (next, (cut, cuts)) = (Arc::new(Mutex::new(None)), channel());
        let shared = Arc::clone(&next);
        thread::spawn(move || {
            for server in listener.incoming().map_while(Result::ok) {
                let (socket, next, cut) = (socket.clone(), Arc::clone(&shared), cut.clone());
                // The connection ends with an error when either side closes it.
                thread::spawn(move || connection(server, socket, &next, &cut));
            }
        });
        Self { port, next, cuts }
    }

    /// Returns how a server connects to the database.
    pub(crate) fn connection(&self) -> String {
        format!("host=127.0.0.1 port={} user=test dbname=postgres", self.port)
    }

    /// Cuts the connection at the next COMMIT.
    pub(crate) fn cut(&self, cut: Cut) {
        *self.next.lock().expect("it is whole") = Some(cut);
    }

    /// Waits until the connection is cut.
    pub(crate) fn is_cut(&self) {
        // CLOCK: a guard against hanging.
        self.cuts.recv_timeout(HANG).expect("there is a COMMIT");
    }
}

fn connection(
    mut server: TcpStream,
    socket: PathBuf,
    next: &Mutex<Option<Cut>>,
    notify: &Sender<()>,
) -> io::Result<()> {
    let mut database = UnixStream::connect(socket)?;
    let answers_stop = Arc::new(AtomicBool::new(false));
    let (from, to) = (database.try_clone()?, server.try_clone()?);
    let stop = Arc::clone(&answers_stop);
    let answers = thread::spawn(move || copy_answers(from, to, &stop));
    // The first message has no type.
    let startup = message(&mut server, 0)?;
    database.write_all(&startup)?;
    loop {
        let message = message(&mut server, 1)?;
        let is_commit = message[0] == b'Q' && &message[5..] == b"COMMIT\0";
        let cut = if is_commit { next.lock().expect("it is whole").take() } else { None };
        match cut {
            None => {
                database.write_all(&message)?;
                continue;
            }
            Some(Cut::Before) => database.shutdown(Shutdown::Both)?,
            Some(Cut::After) => {
                answers_stop.store(true, Ordering::SeqCst);
                database.write_all(&message)?;
                answers.join().expect("it does not panic")?;
            }
            Some(Cut::Held(release)) => {
                server.shutdown(Shutdown::Both)?;
                // The test may have failed.
                let _ = notify.send(());
                let _ = release.recv();
                return database.write_all(&message);
            }
        }
        let _ = notify.send(());
        return server.shutdown(Shutdown::Both);
    }
}

/// Reads a message of PostgreSQL's protocol: a type of `before` bytes, and the length of the rest.
fn message(from: &mut impl Read, before: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; before + 4];
    from.read_exact(&mut message)?;
    let length = u32::from_be_bytes(message[before..].try_into().expect("four bytes"));
    message.resize(before + length as usize, 0);
    from.read_exact(&mut message[before + 4..])?;
    Ok(message)
}

/// Copies answers until the database closes, or until one arrives after `stop` is set.
fn copy_answers(mut from: UnixStream, mut to: TcpStream, stop: &AtomicBool) -> io::Result<()> {
    let mut room = [0; 4096];
    loop {
        let count = from.read(&mut room)?;
        if count == 0 || stop.load(Ordering::SeqCst) {
            return to.shutdown(Shutdown::Both);
        }
        to.write_all(&room[..count])?;
    }
}
