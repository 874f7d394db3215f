//! Handles that starting a child returns.

use self::sealed::Sealed;
use super::mail::SupervisorMail;
use super::supervisor_ref::SupervisorRef;
use crate::process::process_ref::sealed::Found;
use crate::server::{Mail, Server, ServerRef};
use crate::{Pid, ProcessId};

/// Handle on a child: [`Pid`] of a worker, [`ServerRef`] of a server, [`SupervisorRef`] of a
/// supervisor, or [`ProcessId`] of a child of any type.
pub trait ChildHandle: Sealed {}

impl<C: Sealed> ChildHandle for C {}

mod sealed {
    use super::Found;

    pub trait Sealed: Sized + Send + 'static {
        /// Returns the handle on a process; `None` if the process receives messages of another
        /// type.
        fn of(process: Found) -> Option<Self>;
    }
}

impl<M: Send + 'static> Sealed for Pid<M> {
    fn of(process: Found) -> Option<Self> {
        Self::typed(process.0?).ok()
    }
}

impl<S: Server> Sealed for ServerRef<S> {
    fn of(process: Found) -> Option<Self> {
        Pid::<Mail<S>>::of(process).map(Self::new)
    }
}

impl Sealed for SupervisorRef {
    fn of(process: Found) -> Option<Self> {
        Pid::<SupervisorMail>::of(process).map(Self::new)
    }
}

impl Sealed for ProcessId {
    fn of(process: Found) -> Option<Self> {
        process.0.as_ref().map(Self::of)
    }
}
