//! Ctrl-C: how the wish to stop reaches whoever waits for a contender.
//!
//! The signal's own thread calls [`Interrupt::raise`]; the thread that samples
//! holds a channel per contender and finds the wish in it, so nobody polls while
//! something is measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the listener does; `false` says that it is gone and may be forgotten.
type Listener = Box<dyn Fn() -> bool + Send>;

/// A wish to stop, shared by everybody who must know of it.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Shared>);

#[derive(Default)]
struct Shared {
    raised: AtomicBool,
    listeners: Mutex<Vec<Listener>>,
}

impl Interrupt {
    /// Asks everybody to stop. Any thread; again does no harm.
    pub fn raise(&self) {
        // ORDER: SeqCst with `is_raised`; it happens once a run and carries nothing else.
        self.0.raised.store(true, Ordering::SeqCst);
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|tell| tell());
    }

    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// Has `tell` called when somebody asks; it returns `false` once nobody listens any more.
    pub fn listen(&self, tell: impl Fn() -> bool + Send + 'static) {
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.push(Box::new(tell));
    }

    /// Raises this at Ctrl-C and when the program is asked to terminate.
    ///
    /// # Errors
    ///
    /// One line, if the operating system refuses or it was done before.
    pub fn at_signals(&self) -> Result<(), crate::error::Problem> {
        let own = self.clone();
        ctrlc::set_handler(move || own.raise()).map_err(|error| {
            crate::error::Problem::new(format!("cannot listen for Ctrl-C: {error}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_listener_hears_of_it_and_one_that_is_gone_is_forgotten() {
        let interrupt = Interrupt::default();
        let (tell, told) = mpsc::channel();
        interrupt.listen(move || tell.send(()).is_ok());
        assert!(!interrupt.is_raised());
        interrupt.raise();
        assert!(interrupt.is_raised());
        assert_eq!(told.try_recv(), Ok(()));
        drop(told);
        interrupt.raise();
        assert!(interrupt.0.listeners.lock().unwrap().is_empty());
    }
}
