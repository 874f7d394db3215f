//! Plain test server with a ledger and configurable faults.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use purlin_ack::frames::{Frames, needed};
use purlin_ack::pending_acks::PendingAcks;
use purlin_ack::read_buffer::ReadBuffer;
use purlin_ack::session::{Answer, Opened, Opening, Status};
use purlin_ack::wire::{Id, REPLY, Reason, Refusal, SizeOrder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

pub(crate) const LARGEST: u32 = 1 << 20;

/// Behavior of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) order: SizeOrder,
    /// Closes after this many messages, without answering the last ones.
    pub(crate) dies_after: Option<u64>,
    /// Refuses messages whose payload starts with this byte.
    pub(crate) refuses: Option<u8>,
    /// Refuses sessions with this status.
    pub(crate) status: Option<Status>,
    /// Handles messages but never answers.
    pub(crate) mute: bool,
    /// Acknowledges one message too many.
    pub(crate) lies: bool,
    /// Reports a position that is so much too low, as if it still handled these messages.
    pub(crate) behind: u64,
    pub(crate) window: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            order: SizeOrder::Little,
            dies_after: None,
            refuses: None,
            status: None,
            mute: false,
            lies: false,
            behind: 0,
            window: 1000,
        }
    }
}

/// Record of a server's work.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) connections: u64,
    pub(crate) openings: Vec<Opening>,
    /// Ids and payloads of handled messages, in order.
    pub(crate) handled: Vec<(u64, Vec<u8>)>,
    /// Number of messages in each read.
    pub(crate) reads: Vec<usize>,
    /// Newest message of the session.
    pub(crate) newest: Option<u64>,
    pub(crate) refused: Vec<Refusal>,
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves one connection at a time; `rules` gets the number of each connection, from 0.
    pub(crate) async fn start(rules: impl Fn(u64) -> Rules + Send + 'static) -> Self {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        Self::on(anywhere, Arc::default(), 1, rules).await
    }

    /// Serves at most `most` connections at a time on this address, continuing an existing ledger.
    pub(crate) async fn on(
        address: SocketAddr,
        ledger: Arc<Mutex<Ledger>>,
        most: usize,
        rules: impl Fn(u64) -> Rules + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let own = Arc::clone(&ledger);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let number = own.lock().unwrap().connections;
                own.lock().unwrap().connections += 1;
                connections.spawn(serve(socket, rules(number), Arc::clone(&own)));
                while connections.len() >= most {
                    // A client that disconnects is not a failure.
                    let _ = connections.join_next().await;
                }
            }
        });
        Self { address, ledger, task }
    }

    /// Kills the server with its connections and its socket. The ledger is kept.
    pub(crate) async fn kill(mut self) -> (SocketAddr, Arc<Mutex<Ledger>>) {
        self.task.abort();
        let _ = (&mut self.task).await;
        (self.address, Arc::clone(&self.ledger))
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Ledger {
    fn open(&mut self, opening: Opening, rules: &Rules) -> Answer {
        if let Some(status) = rules.status {
            return Answer::Refused(status);
        }
        match self.openings.last() {
            Some(last) if last.epoch > opening.epoch => return Answer::Refused(Status::STALE),
            Some(last) if last.epoch == opening.epoch => {}
            _ => (self.newest, self.refused) = (None, Vec::new()),
        }
        self.openings.push(opening);
        Answer::Opened(Opened {
            newest: self.newest.and_then(|newest| newest.checked_sub(rules.behind)),
            window: rules.window,
            largest: LARGEST,
            refused: self.refused.clone(),
        })
    }

    /// Returns the payloads as 32-bit numbers.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        let number = |payload: &Vec<u8>| u32::from_le_bytes(payload[..4].try_into().unwrap());
        self.handled.iter().map(|(_, payload)| number(payload)).collect()
    }
}

async fn serve(mut socket: TcpStream, rules: Rules, ledger: Arc<Mutex<Ledger>>) -> io::Result<()> {
    let mut read = ReadBuffer::new(64 << 10);
    let mut owed = PendingAcks::default();
    let (mut opened, mut is_first, mut handled) = (false, true, 0);
    loop {
        let missing = needed(read.waiting(), rules.order, LARGEST).unwrap_or(1);
        let count = socket.read(read.spare(missing)).await?;
        if count == 0 {
            return Ok(());
        }
        read.filled(count);
        let mut answers = Vec::new();
        let mut refused_session = false;
        let used = {
            let mut ledger = ledger.lock().unwrap();
            let mut frames = Frames::new(read.waiting(), rules.order, LARGEST);
            let mut together = 0;
            for frame in &mut frames {
                if std::mem::take(&mut is_first)
                    && let Ok(Some(opening)) = Opening::of(&frame)
                {
                    let answer = ledger.open(opening, &rules);
                    refused_session = matches!(answer, Answer::Refused(_));
                    opened = !refused_session;
                    answers.extend(answer.to_bytes());
                    continue;
                }
                let id = frame.id.number();
                if rules.dies_after.is_some_and(|most| handled >= most) {
                    return Ok(());
                }
                if opened && ledger.newest.is_some_and(|newest| id <= newest) {
                    continue;
                }
                handled += 1;
                together += 1;
                if opened {
                    ledger.newest = Some(id);
                }
                if rules.refuses.is_some_and(|first| frame.payload.first() == Some(&first)) {
                    let refusal = Refusal { id, reason: Reason::NOT_TAKEN };
                    ledger.refused.push(refusal);
                    answers.extend(all_acks(&mut owed, &rules));
                    answers.extend(refusal.to_bytes());
                } else {
                    ledger.handled.push((id, frame.payload.to_vec()));
                    owed.add_one(frame.id);
                    if rules.order == SizeOrder::Big {
                        answers.extend(all_acks(&mut owed, &rules));
                    }
                }
            }
            ledger.reads.push(together);
            frames.used()
        };
        read.consume(used);
        if rules.mute {
            continue;
        }
        answers.extend(all_acks(&mut owed, &rules));
        socket.write_all(&answers).await?;
        if refused_session {
            return Ok(());
        }
    }
}

fn all_acks(owed: &mut PendingAcks, rules: &Rules) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(mut ack) = owed.take() {
        if rules.lies {
            ack.id = Id::from(ack.id.number() + 1);
            ack.skipped += 1;
        }
        let length = if rules.order == SizeOrder::Big { REPLY } else { 12 };
        bytes.extend(&ack.to_bytes()[..length]);
    }
    bytes
}

/// Returns a payload of four bytes.
pub(crate) fn number(number: u32) -> [u8; 4] {
    number.to_le_bytes()
}
