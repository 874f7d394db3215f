//! Priority part of a save queue: its messages precede all others.
//!
//! A priority message was made from a signal by the receiver, which has asked for it. It is placed
//! behind the last priority message and before all ordinary ones, and its envelope has the flag
//! `PRIORITY`.
//!
//! A scan that has passed ordinary messages when a priority message arrives makes a *detour*: it
//! examines that message next, and then continues where it was. While messages are examined during a
//! detour, the ordinary ones that were passed are not in the list. So the loop that examines needs no
//! check.
//!
//! INVARIANT: if the first message has priority, `last` is the last one that has. Otherwise `last` is
//! meaningless: a receive of the oldest message leaves it as it is.
//!
//! INVARIANT: during a detour the cursor is the anchor or a priority message, a priority message is
//! behind it, and `resume` is an ordinary message of this list. With no cursor, `resume` is
//! meaningless, for the same reason. The anchor precedes the first message while the cursor is there.
//!
//! COST: nothing for a receive of the oldest message. A scan compares one word before the messages and
//! one after them, about ten instructions.

use std::ptr::{self, NonNull};

use crate::inbox::header::{Class, Header, PRIORITY};
use crate::inbox::save_queue::SaveQueue;

/// Positions in the save queue of a process that has had priority messages.
pub(super) struct PriorityPart {
    /// The last priority message.
    last: *mut Header,
    /// The ordinary message at which the scan continues after the detour; null without a detour.
    resume: *mut Header,
    /// First of the ordinary messages that were passed, up to `resume`, while they are not in the
    /// list; otherwise null.
    passed: *mut Header,
    /// The cursor of a detour that begins with the first message.
    anchor: Header,
}

/// Returns whether a header, which may be null, is that of a priority message or an anchor.
///
/// # Safety
/// The caller owns the header.
pub(super) unsafe fn has_priority(header: *mut Header) -> bool {
    // SAFETY: by the contract.
    unsafe { header.as_ref().is_some_and(|header| header.tags() & PRIORITY != 0) }
}

impl PriorityPart {
    pub(super) fn new() -> Self {
        let anchor = Header::new(Class::Message);
        // SAFETY: the header is owned here.
        unsafe { anchor.set_tag(PRIORITY) };
        let null = ptr::null_mut();
        Self { last: null, resume: null, passed: null, anchor }
    }
}

/// Returns the header behind `before`, or null.
///
/// # Safety
/// The caller owns the header, which is not null.
unsafe fn behind(before: *mut Header) -> *mut Header {
    // SAFETY: by the contract.
    unsafe { (*before).next() }
}

// SAFETY of this block: the list owns its headers, the process that owns the queue alone accesses it,
// and by the invariants above `cursor`, `last` and `resume` are headers of the list where they are
// used. The part is accessed by its fields, because the cursor may point into it.
impl SaveQueue {
    /// Places a message behind the last priority message, and before all others.
    ///
    /// # Safety
    /// The caller owns the header and gives it away.
    #[cold]
    pub(crate) unsafe fn insert_priority(&mut self, header: NonNull<Header>) {
        self.allocate_positions();
        let part = self.priority();
        let last = self.last_priority();
        let new = header.as_ptr();
        // SAFETY: see the block.
        unsafe {
            if !self.cursor.is_null() && !has_priority(self.cursor) {
                (*part).resume = self.cursor;
                self.cursor = if last.is_null() { &raw mut (*part).anchor } else { last };
            }
            let following = if last.is_null() { self.oldest } else { behind(last) };
            header.as_ref().set_tag(PRIORITY);
            header.as_ref().set_next(following);
            if last.is_null() {
                self.oldest = new;
                (*part).anchor.set_next(new);
            } else {
                (*last).set_next(new);
            }
            if following.is_null() {
                self.newest = new;
            }
            (*part).last = new;
        }
    }

    /// Returns the priority part, or null if the positions are not allocated.
    fn priority(&self) -> *mut PriorityPart {
        match NonNull::new(self.positions) {
            None => ptr::null_mut(),
            // SAFETY: only this queue points to the positions.
            Some(positions) => unsafe { &raw mut (*positions.as_ptr()).priority },
        }
    }

    /// Returns the last priority message, or null. The priority part is allocated.
    fn last_priority(&self) -> *mut Header {
        // SAFETY: see the block.
        unsafe { if has_priority(self.oldest) { (*self.priority()).last } else { ptr::null_mut() } }
    }

    /// Restores `last` after the message behind the cursor was removed.
    pub(super) fn find_last_priority(&mut self) {
        let (part, cursor) = (self.priority(), self.cursor);
        // SAFETY: see the block.
        unsafe {
            if !part.is_null()
                && cursor != &raw mut (*part).anchor
                && has_priority(cursor)
                && !has_priority(behind(cursor))
            {
                (*part).last = cursor;
            }
        }
    }

    /// Prepares for examining the messages behind the cursor. The priority part is allocated.
    #[cold]
    pub(super) fn begin_detour(&mut self) {
        let part = self.priority();
        // SAFETY: see the block.
        unsafe {
            if !has_priority(self.cursor) {
                (*part).resume = ptr::null_mut();
            }
            if !(*part).resume.is_null() {
                let last = (*part).last;
                (*part).passed = behind(last);
                (*last).set_next(behind((*part).resume));
            }
        }
    }

    /// Puts the ordinary messages that were passed back into the list. Ends the detour if all
    /// priority messages have been examined. The priority part is allocated.
    fn end_detour(&mut self) {
        let part = self.priority();
        // SAFETY: see the block. If a message was removed behind the anchor, the anchor has its
        // successor, and stands for null in `newest`. `newest` may be one of the passed messages.
        unsafe {
            let anchor = &raw mut (*part).anchor;
            let passed = std::mem::replace(&mut (*part).passed, ptr::null_mut());
            if self.cursor == anchor {
                self.oldest = behind(anchor);
            }
            if self.newest == anchor {
                self.newest = ptr::null_mut();
            }
            self.find_last_priority();
            if passed.is_null() {
                // A detour without an end, because that message was removed.
                if self.cursor == anchor {
                    self.rewind();
                }
                return;
            }
            let (last, resume) = (self.last_priority(), (*part).resume);
            let following = if last.is_null() { self.oldest } else { behind(last) };
            (*resume).set_next(following);
            if following.is_null() {
                self.newest = resume;
            }
            if last.is_null() {
                self.oldest = passed;
            } else {
                (*last).set_next(passed);
            }
            let at_last = if last.is_null() { anchor } else { last };
            if self.cursor == at_last {
                self.cursor = resume;
            }
            if !has_priority(self.cursor) {
                (*part).resume = ptr::null_mut();
            }
        }
    }

    /// Ends the examination of the messages of `scanned`, and moves to it the priority messages that
    /// this queue got meanwhile.
    #[cold]
    pub(super) fn settle(&mut self, scanned: &mut Self) {
        if !scanned.positions.is_null() {
            scanned.end_detour();
        }
        // SAFETY: see the block.
        while unsafe { has_priority(self.oldest) } {
            let Some(header) = self.pop() else { break };
            // SAFETY: the header has left this queue.
            unsafe { scanned.insert_priority(header) };
        }
        self.free_positions();
    }

    /// Moves the end of a detour to the message before the cursor's next one, if `removed` was it.
    pub(super) fn resume_before(&mut self, removed: NonNull<Header>) {
        // SAFETY: see the block. All ordinary messages before `removed` are at or before the cursor.
        unsafe {
            let part = self.priority();
            if !part.is_null() && (*part).resume == removed.as_ptr() {
                let ordinary = !has_priority(self.cursor);
                (*part).resume = if ordinary { self.cursor } else { ptr::null_mut() };
            }
        }
    }

    /// Begins a detour from an ordinary message: the scan examines all priority messages next. The
    /// positions are allocated.
    #[cold]
    pub(super) fn detour_to_priority(&mut self) {
        let part = self.priority();
        // SAFETY: see the block.
        unsafe {
            if !self.cursor.is_null() && !has_priority(self.cursor) && has_priority(self.oldest) {
                (*part).resume = self.cursor;
                (*part).anchor.set_next(self.oldest);
                self.cursor = &raw mut (*part).anchor;
            }
        }
    }

    /// Returns the ordinary message before the one that was just removed behind the cursor, or null.
    /// The positions are allocated.
    pub(super) fn ordinary_before(&self) -> *mut Header {
        let part = self.priority();
        // SAFETY: see the block.
        unsafe {
            match has_priority(self.cursor) {
                false => self.cursor,
                true if (*part).passed.is_null() => ptr::null_mut(),
                true => (*part).resume,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
