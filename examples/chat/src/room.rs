//! Room: the server that orders the lines of a room and sends them to its sessions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use purlin::server::{self, Mail, Next, ServerRef};
use purlin::supervisor::{ChildTemplate, DynamicSupervisorRef};
use purlin::{
    Down, ExitReason, LookupError, Monitored, Overflow, Pid, Process, ProcessId, SpawnOptions,
    whereis,
};

use crate::journal::{JOURNAL, Request};
use crate::session::Delivery;
use crate::storage::Line;

/// Name of the supervisor of the rooms.
pub const ROOMS: &str = "rooms";
/// A room without sessions ends after this time without a message.
const IDLE: Duration = Duration::from_secs(60);
/// Bound of a room's mailbox. Each session has at most one request.
const BOUND: usize = 20_000;

/// The supervisor of the rooms, whose children are started by their name.
pub type Rooms = DynamicSupervisorRef<String, ServerRef<Room>>;

/// State of a room.
#[derive(Debug)]
pub struct Room {
    name: String,
    journal: Pid<Request>,
    sessions: HashMap<ProcessId, Pid<Delivery>>,
}

#[purlin::server]
impl Room {
    #[init]
    fn open(name: String) -> Result<Self, LookupError> {
        Ok(Self { name, journal: whereis(JOURNAL)?, sessions: HashMap::new() })
    }

    /// Adds a session. Returns the last lines, from those after a number.
    #[call]
    async fn join(
        &mut self,
        session: Pid<Delivery>,
        after: u64,
        me: &mut Process<Mail<Self>>,
    ) -> Option<Vec<Line>> {
        let room = self.name.clone();
        let lines =
            self.journal.call(|reply| Request::History { room, after, reply }).await.ok()?;
        if self.sessions.insert(session.id(), session.clone()).is_none() {
            me.monitor(&session);
        }
        Some(lines)
    }

    /// Writes a line to the journal and sends it to all sessions. Returns its number.
    #[call]
    async fn say(&mut self, who: String, text: String) -> Option<u64> {
        let room = self.name.clone();
        let append = |reply| Request::Append { room, who, text, reply };
        let line = Arc::new(self.journal.call(append).await.ok()?);
        self.sessions.retain(|_, session| {
            let sent = session.try_send(Delivery::Line(Arc::clone(&line)));
            if sent.is_err() {
                // Its client reads too slowly. It connects again and gets the lines it missed.
                session.exit(ExitReason::Shutdown);
            }
            sent.is_ok()
        });
        Some(line.number)
    }

    #[info]
    fn session_ended(&mut self, down: Down) {
        if let Monitored::Process(id) = down.process {
            self.sessions.remove(&id);
        }
    }

    #[timeout(IDLE)]
    fn idle(&mut self) -> Next<Self> {
        if self.sessions.is_empty() { Next::Stop(ExitReason::Normal) } else { Next::Timeout(IDLE) }
    }
}

/// Template of the rooms.
pub(crate) fn template() -> ChildTemplate<String, ServerRef<Room>> {
    let options = SpawnOptions::new().bound(BOUND, Overflow::Reject);
    ChildTemplate::server("room", server::start_link::<Room>).options(options)
}
