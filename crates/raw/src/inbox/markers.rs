//! Receive markers: positions in the save queue at which a selective receive may begin.
//!
//! A marker stands behind a message, its *anchor*, and has a number. It is placed behind the newest
//! message, so all that arrives later stands behind it. When its anchor leaves the queue, the marker
//! moves to the message before. When the oldest message was the anchor, all messages of the queue
//! have arrived after the marker was placed, and a scan from the oldest message examines no other.
//!
//! A process has at most [`CAPACITY`] markers, as on the BEAM. Another one replaces the oldest, and
//! a scan for the number of that one begins at the oldest message.
//!
//! INVARIANT: the anchor of a marker is null or a message of the queue that holds the markers, and
//! has the flag `ANCHOR`. A message with the flag need not be an anchor.
//!
//! COST: one word in the save queue; the first marker allocates 136 bytes. Removing a message that
//! is no anchor costs nothing.

use std::ptr::{self, NonNull};

use crate::inbox::header::{ANCHOR, Header};

/// Maximum number of markers of a process.
const CAPACITY: usize = 8;

/// Receive markers of a save queue: a pointer to a [`Ring`] that it owns, null, or [`REFUSED`].
///
/// WHY no `Drop`: a scan moves the queue, and would check each time whether there is a ring.
#[derive(Debug)]
pub(crate) struct Markers(*mut Ring);

/// Address that stands for a queue in which no marker can be placed.
const REFUSED: usize = 1;

/// The latest markers.
#[derive(Debug, Default)]
struct Ring {
    markers: [Marker; CAPACITY],
    /// Index of the oldest marker, which the next one replaces.
    oldest: usize,
}

#[derive(Debug, Clone, Copy)]
struct Marker {
    number: u64,
    anchor: *mut Header,
}

impl Default for Marker {
    fn default() -> Self {
        Self { number: 0, anchor: ptr::null_mut() }
    }
}

impl Markers {
    pub(crate) const fn new() -> Self {
        Self(ptr::null_mut())
    }

    /// Creates markers of which there are never any.
    pub(crate) const fn refused() -> Self {
        Self(ptr::without_provenance_mut(REFUSED))
    }

    fn ring(&mut self) -> Option<&mut Ring> {
        // SAFETY: any other address is that of a ring, which `self` owns.
        (self.0.addr() > REFUSED).then(|| unsafe { &mut *self.0 })
    }

    /// Places a marker behind the newest message of the queue.
    ///
    /// # Safety
    /// `newest` is that message, which the queue owns.
    pub(crate) unsafe fn place(&mut self, number: u64, newest: NonNull<Header>) {
        if self.0.is_null() {
            self.0 = Box::into_raw(Box::default());
        }
        let Some(ring) = self.ring() else { return };
        // SAFETY: by the contract.
        unsafe { newest.as_ref().set_tag(ANCHOR) };
        ring.markers[ring.oldest] = Marker { number, anchor: newest.as_ptr() };
        ring.oldest = (ring.oldest + 1) % CAPACITY;
    }

    /// Returns the anchor of the marker with this number; null if there is no such marker, or no
    /// message before it.
    pub(crate) fn find(&mut self, number: u64) -> *mut Header {
        let Some(ring) = self.ring() else { return ptr::null_mut() };
        let marker = ring.markers.iter().find(|marker| marker.number == number);
        marker.map_or(ptr::null_mut(), |marker| marker.anchor)
    }

    /// Moves the markers of a message that leaves the queue to the message before it, which is null
    /// for the oldest message.
    ///
    /// # Safety
    /// `before` is null or a message that the queue owns.
    pub(crate) unsafe fn moved(&mut self, from: NonNull<Header>, before: *mut Header) {
        let Some(ring) = self.ring() else { return };
        for marker in ring.markers.iter_mut().filter(|marker| marker.anchor == from.as_ptr()) {
            marker.anchor = before;
            if let Some(before) = NonNull::new(before) {
                // SAFETY: by the contract.
                unsafe { before.as_ref().set_tag(ANCHOR) };
            }
        }
    }

    /// Frees the memory of the markers.
    pub(crate) fn free(&mut self) {
        let Self(ring) = std::mem::replace(self, Self::new());
        if ring.addr() > REFUSED {
            // SAFETY: as in `ring`; the ring came from a box, and `self` no longer points to it.
            drop(unsafe { Box::from_raw(ring) });
        }
    }
}
