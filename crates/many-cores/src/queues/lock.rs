//! Queue behind one lock: `Mutex<Vec<u64>>`.

use std::sync::{Arc, PoisonError};

use super::{Queue, Receiver};
use crate::platform::{Line, Mutex, MutexGuard};

/// Messages of one cache line.
const PER_LINE: usize = 8;
/// Lines of the buffer that are told apart; a longer buffer uses them again.
const LINES: usize = 4096;

#[derive(Default)]
struct State {
    messages: Vec<u64>,
    asleep: bool,
}

/// Queue behind a lock. The lock and the header of the vector share a line.
#[repr(align(64))]
pub(crate) struct Lock {
    state: Mutex<State>,
    buffer: Vec<Line>,
}

/// Its receiver.
pub(crate) struct LockReceiver(Arc<Lock>);

impl Lock {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, index: usize) -> &Line {
        &self.buffer[index / PER_LINE % LINES]
    }
}

impl Queue for Lock {
    type Receiver = LockReceiver;

    fn new() -> (Arc<Self>, LockReceiver) {
        let buffer = (0..LINES).map(|_| Line::default()).collect();
        let queue = Arc::new(Self { state: Mutex::default(), buffer });
        (Arc::clone(&queue), LockReceiver(queue))
    }

    fn send(&self, message: u64, _: u32) -> bool {
        let mut state = self.lock();
        self.line(state.messages.len()).write();
        state.messages.push(message);
        std::mem::take(&mut state.asleep)
    }
}

impl Receiver for LockReceiver {
    fn receive(&mut self, mut f: impl FnMut(u64)) -> usize {
        let messages = std::mem::take(&mut self.0.lock().messages);
        for (index, &message) in messages.iter().enumerate() {
            if index % PER_LINE == 0 {
                self.0.line(index).read();
            }
            f(message);
        }
        messages.len()
    }

    fn sleep(&mut self) -> bool {
        let mut state = self.0.lock();
        state.asleep = state.messages.is_empty();
        state.asleep
    }
}
