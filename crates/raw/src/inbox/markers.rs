//! Receive markers: positions in the save queue at which a selective receive may begin.
//!
//! A marker stands behind an ordinary message, its *anchor*, and has a number. It is placed behind
//! the newest message, so all that arrives later stands behind it, except priority messages, which a
//! scan from a marker examines first. When its anchor leaves the queue, the marker moves to the
//! ordinary message before. When there is none, all ordinary messages of the queue have arrived after
//! the marker was placed, and a scan from the oldest message examines no other.
//!
//! A process has at most [`CAPACITY`] markers, as on the BEAM. Another one replaces the oldest, and
//! a scan for the number of that one begins at the oldest message.
//!
//! INVARIANT: the anchor of a marker is null or a message of the queue that holds the markers, and
//! has the flag `ANCHOR`. A message with the flag need not be an anchor.
//!
//! COST: removing a message that is no anchor costs nothing.

use std::ptr::{self, NonNull};

use crate::inbox::header::{ANCHOR, Header};

/// Maximum number of markers of a process.
const CAPACITY: usize = 8;

/// The latest markers.
#[derive(Debug)]
pub(super) struct Markers {
    latest: [Marker; CAPACITY],
    /// Index of the oldest marker, which the next one replaces.
    oldest: usize,
}

#[derive(Debug, Clone, Copy)]
struct Marker {
    number: u64,
    anchor: *mut Header,
}

impl Markers {
    pub(super) const fn new() -> Self {
        let none = Marker { number: 0, anchor: ptr::null_mut() };
        Self { latest: [none; CAPACITY], oldest: 0 }
    }

    /// Places a marker behind the newest message of the queue.
    ///
    /// # Safety
    /// `newest` is that message, which the queue owns.
    pub(super) unsafe fn place(&mut self, number: u64, newest: NonNull<Header>) {
        // SAFETY: by the contract.
        unsafe { newest.as_ref().set_tag(ANCHOR) };
        self.latest[self.oldest] = Marker { number, anchor: newest.as_ptr() };
        self.oldest = (self.oldest + 1) % CAPACITY;
    }

    /// Returns the anchor of the marker with this number; null if there is no such marker, or no
    /// message before it.
    pub(super) fn find(&self, number: u64) -> *mut Header {
        let marker = self.latest.iter().find(|marker| marker.number == number);
        marker.map_or(ptr::null_mut(), |marker| marker.anchor)
    }

    /// Moves the markers of a message that leaves the queue to the ordinary message before it, or to
    /// null if there is none.
    ///
    /// # Safety
    /// `before` is null or a message that the queue owns.
    pub(super) unsafe fn moved(&mut self, from: NonNull<Header>, before: *mut Header) {
        for marker in self.latest.iter_mut().filter(|marker| marker.anchor == from.as_ptr()) {
            marker.anchor = before;
            if let Some(before) = NonNull::new(before) {
                // SAFETY: by the contract.
                unsafe { before.as_ref().set_tag(ANCHOR) };
            }
        }
    }
}
