//! Interruption by Ctrl-C and SIGTERM, delivered to the thread that waits for a contender.
//!
//! The signal handler's thread calls [`Interrupt::raise`]. The sampling thread waits on one channel
//! per contender, and the listener sends the interrupt into it, so no thread polls during a
//! measurement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Callback of a listener; returns `false` if the listener is gone and can be removed.
type Listener = Box<dyn Fn() -> bool + Send>;

/// A shared interrupt flag with listeners.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Shared>);

/// State shared by all clones of an interrupt.
#[derive(Default)]
struct Shared {
    raised: AtomicBool,
    listeners: Mutex<Vec<Listener>>,
}

impl Interrupt {
    /// Raises the interrupt and calls all listeners. May be called from any thread, and repeatedly.
    pub fn raise(&self) {
        // ORDER: SeqCst with `is_raised`; raised once per run, and publishes no other data.
        self.0.raised.store(true, Ordering::SeqCst);
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|callback| callback());
    }

    /// Returns whether the interrupt was raised.
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// Registers `callback` to be called when the interrupt is raised; it returns `false` once its
    /// receiver is gone.
    pub fn listen(&self, callback: impl Fn() -> bool + Send + 'static) {
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.push(Box::new(callback));
    }

    /// Raises this interrupt on Ctrl-C and on requests to terminate.
    ///
    /// # Errors
    ///
    /// Returns one line if the operating system refuses the handler or one was installed before.
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
    fn interrupt_calls_listeners_and_removes_those_that_are_gone() {
        let interrupt = Interrupt::default();
        let (tx, rx) = mpsc::channel();
        interrupt.listen(move || tx.send(()).is_ok());
        assert!(!interrupt.is_raised());
        interrupt.raise();
        assert!(interrupt.is_raised());
        assert_eq!(rx.try_recv(), Ok(()));
        drop(rx);
        interrupt.raise();
        assert!(interrupt.0.listeners.lock().unwrap().is_empty());
    }
}
