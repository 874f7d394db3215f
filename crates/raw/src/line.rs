//! The line of those who wait until a mailbox has room.
//!
//! A sender on any thread joins, and *then* looks once more whether there is room, or the receiver
//! has ended; if so it leaves. The receiver lets the whole line go at the end of a turn, if there is
//! room then, and after its inbox has closed. Both go through the line's lock, so one of them comes
//! second and sees what the other did before: a sender in the line is let go, or has seen the room.
//!
//! WHY the whole line: who is let go need not send, and then somebody else would wait for ever.
//!
//! COST: a lock; a waker for each who waits.

use std::task::Waker;

use crate::World;
use crate::address::Ref;
use crate::quiet::quietly;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Who waits at one mailbox.
#[derive(Debug)]
pub(crate) struct Line {
    waiting: Mutex<Waiting>,
    /// Whoever has a lower number has been let go.
    gone: AtomicU64,
}

#[derive(Debug)]
struct Waiting {
    /// The number of the next who joins.
    next: u64,
    /// By ascending number.
    wakers: Vec<(u64, Waker)>,
}

/// A place in the line before a process's mailbox, which is left when this is dropped.
#[must_use]
pub struct Place<W: World> {
    to: Ref<W>,
    number: u64,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::new(Waiting { next: 0, wakers: Vec::new() }),
            gone: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // WHY: nobody panics while it is locked.
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn join(&self, waker: Waker) -> u64 {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.wakers.push((number, waker));
        number
    }

    fn leave(&self, number: u64) {
        let mut waiting = self.lock();
        let place = waiting.wakers.binary_search_by_key(&number, |(number, _)| *number);
        let waker = place.ok().map(|place| waiting.wakers.remove(place));
        drop(waiting);
        // It may be anybody's.
        quietly(|| drop(waker));
    }

    fn is_gone(&self, number: u64) -> bool {
        // ORDER: relaxed: who is let go is woken besides, and that carries what happened before.
        self.gone.load(Ordering::Relaxed) > number
    }

    /// Wakes all who wait.
    pub(crate) fn let_go(&self) {
        let mut waiting = self.lock();
        if waiting.wakers.is_empty() {
            return;
        }
        let wakers = std::mem::take(&mut waiting.wakers);
        self.gone.store(waiting.next, Ordering::Relaxed);
        drop(waiting);
        wakers.into_iter().for_each(|(_, waker)| quietly(|| waker.wake()));
    }
}

impl<W: World> Ref<W> {
    /// Joins the line before this process's mailbox; `None` if there is no need to wait: there is
    /// room, or no bound, or the process has ended.
    pub fn line_up(&self, waker: Waker) -> Option<Place<W>> {
        let edge = self.edge()?;
        let place = Place { to: self.clone(), number: edge.line.join(waker) };
        (!self.has_room() && !self.has_ended()).then_some(place)
    }
}

impl<W: World> Place<W> {
    /// Whether there is nothing to wait for any more.
    pub fn is_over(&self) -> bool {
        self.to.has_ended() || self.to.edge().is_none_or(|edge| edge.line.is_gone(self.number))
    }

    /// Whether it is a place before that process's mailbox.
    pub fn is_before(&self, process: &Ref<W>) -> bool {
        self.to.is_same(process)
    }
}

impl<W: World> Drop for Place<W> {
    fn drop(&mut self) {
        if let Some(edge) = self.to.edge().filter(|edge| !edge.line.is_gone(self.number)) {
            edge.line.leave(self.number);
        }
    }
}

impl<W: World> std::fmt::Debug for Place<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("to", &self.to).field("number", &self.number).finish()
    }
}
