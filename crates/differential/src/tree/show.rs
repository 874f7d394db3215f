//! Text form of trees and their events.

use std::fmt;

use super::{Child, Event, Order, Supervisor, Tree};

impl Supervisor {
    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let Self { strategy, intensity, auto_shutdown, children } = self;
        writeln!(f, "{strategy:?}, intensity {intensity}, auto_shutdown {auto_shutdown:?}")?;
        for Child { id, restart, brutal, significant, supervises } in children {
            write!(f, "{:1$}C{id} {restart:?}", "", depth * 2)?;
            f.write_str(if *brutal { " brutal_kill" } else { "" })?;
            f.write_str(if *significant { " significant" } else { "" })?;
            match supervises {
                Some(supervisor) => {
                    f.write_str(": ")?;
                    supervisor.show(f, depth + 1)?;
                }
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("C0: ")?;
        self.top.show(f, 1)?;
        f.write_str("orders:")?;
        self.orders.iter().try_for_each(|order| write!(f, "  {order};"))?;
        writeln!(f)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End(id, reason) => write!(f, "C{id} ends: {reason}"),
            Self::Kill(id) => write!(f, "exit(C{id}, kill)"),
            Self::Fail(id, starts) => write!(f, "{starts} starts of C{id} fail"),
            Self::Terminate(of, id) => write!(f, "terminate_child(C{of}, C{id})"),
            Self::Restart(of, id) => write!(f, "restart_child(C{of}, C{id})"),
            Self::Delete(of, id) => write!(f, "delete_child(C{of}, C{id})"),
            Self::Start(of, id, restart) => write!(f, "start_child(C{of}, C{id} {restart:?})"),
            Self::Stranger(of) => write!(f, "exit(C{of}, shutdown) by a stranger"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(id) => write!(f, "C{id} starts"),
            Self::Refused(id) => write!(f, "C{id} refuses to start"),
            Self::Stopped(id, reason) => write!(f, "C{id} is stopped: {reason}"),
            Self::Ended(id, reason) => write!(f, "C{id} ends: {reason}"),
            Self::Answered(answer) => write!(f, "answer {answer:?}"),
            Self::Child(id, true) => write!(f, "+C{id}"),
            Self::Child(id, false) => write!(f, "-C{id}"),
            Self::Over(reason) => write!(f, "top ended: {reason}"),
        }
    }
}

/// Returns all events in one line.
pub fn text(events: &[Event]) -> String {
    events.iter().map(|event| format!("  {event};")).collect()
}
