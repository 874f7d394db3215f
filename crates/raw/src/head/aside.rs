//! Sharded mode of the inbox state word: push to a shard, announce, install and remove shards.
//!
//! Called by `head`, whose module documentation has the protocol. `lanes` implements one shard.

use std::ptr::{self, NonNull};

use super::word::{
    COUNT_SHIFT, FIRST_LANE, FLAGS, LANES, arrival, era, has_lanes, is_closed, link,
};
use super::{Head, Pushed};
use crate::chain::Chain;
use crate::lanes::{Found, LAST_ERA, Lanes, Traffic};
use crate::link::{Class, Link};
use crate::sync::Ordering;

impl Head {
    /// Pushes a signal into the sender's shard. Returns `None` if the shard is frozen.
    ///
    /// # Safety
    /// As for `push`; `word` was read with acquire and was sharded. On `None` the caller owns the
    /// header again.
    pub(super) unsafe fn push_aside(
        &self,
        word: *mut Link,
        new: NonNull<Link>,
        class: Class,
        sender: u32,
    ) -> Option<Pushed> {
        let lanes = self.known_lanes();
        let lane = lanes.lane_of(sender);
        let bit = 1 << (FIRST_LANE + lane as u32);
        // SAFETY: by the contract; a frozen shard has not taken the header.
        let told = match unsafe { lanes.push(lane, new, era(word)) } {
            Found::Frozen => return None,
            Found::Empty => false,
            Found::Others if class == Class::Signal => false,
            Found::Others => {
                // WHY check, although the sender that found the shard empty announces it: that
                // sender may be preempted before it does, and this message must not wait for it.
                // ORDER: relaxed: if the receiver emptied the shard before this push, the push
                // synchronizes with it, and this load cannot return an older word. So a stale word
                // with the bit set means that the receiver will still take the shard, with this
                // message in it.
                let now = self.word.load(Ordering::Relaxed);
                !has_lanes(now) || now.addr() & bit != 0
            }
        };
        Some(if told { Pushed::Queued } else { self.tell(bit, class) })
    }

    /// Announces the contents of a shard to the receiver.
    fn tell(&self, bit: usize, class: Class) -> Pushed {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if is_closed(word) || !has_lanes(word) {
                // The epoch has ended, and the receiver has taken the contents of the shard.
                return Pushed::Queued;
            }
            let (flags, wakes) = arrival(word, class);
            let next = word.map_addr(|addr| (addr & !FLAGS) | flags | bit);
            // ORDER: release to `take`, which then sees the header in the shard. Acquire from
            // `sleep`, as in `push`.
            // WHY an RMW even if nothing changes: the receiver may just have taken the bit, and
            // only the RMW reads the latest value.
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if wakes => return Pushed::Schedule,
                Ok(_) => return Pushed::Queued,
                Err(now) => word = now,
            }
        }
    }

    /// Returns the shards. For a thread that found the inbox sharded with an acquire load, and for
    /// the receiver.
    pub(super) fn known_lanes(&self) -> &Lanes {
        // SAFETY: the pointer was stored before the shards were first in use and never changes
        // again. Its target lives as long as `self`.
        unsafe { self.lanes.load(Ordering::Relaxed).as_ref() }.expect("lanes were installed")
    }

    /// A take that starts or ends with a sharded inbox.
    #[cold]
    #[inline(never)]
    pub(super) fn take_aside(&self, traffic: &mut Traffic, arrived: &mut Chain) -> *mut Link {
        match has_lanes(self.word.load(Ordering::Relaxed)) {
            true => self.take_lanes(traffic, arrived),
            false => self.install_lanes(traffic, arrived),
        }
    }

    /// Takes the stack and leaves the inbox sharded.
    fn install_lanes(&self, traffic: &mut Traffic, arrived: &mut Chain) -> *mut Link {
        traffic.installed();
        let mut lanes = self.lanes.load(Ordering::Relaxed);
        if lanes.is_null() {
            lanes = Box::into_raw(Box::new(Lanes::new()));
            self.lanes.store(lanes, Ordering::Relaxed);
        }
        let era = self.known_lanes().last_era() + 1;
        let next = LANES | era << COUNT_SHIFT;
        // ORDER: acquire as in `take`; release to senders: the shards and the pointer to them.
        let word = self.word.swap(ptr::without_provenance_mut(next), Ordering::AcqRel);
        // SAFETY: the swap transferred the stack to this thread.
        *arrived = unsafe { Chain::turn_round(link(word)) };
        word
    }

    /// Takes the contents of the announced shards. Ends the epoch if they bring too little.
    fn take_lanes(&self, traffic: &mut Traffic, arrived: &mut Chain) -> *mut Link {
        let era = era(self.word.load(Ordering::Relaxed));
        if traffic.wants_stack() && era < LAST_ERA {
            // ORDER: acquire from `wake`. `freeze` releases the end of the epoch to senders.
            let word = self.word.swap(ptr::null_mut(), Ordering::Acquire);
            *arrived = self.known_lanes().freeze(era);
            return word;
        }
        let next = LANES | era << COUNT_SHIFT;
        // ORDER: acquire from `tell` and `wake`. No release: since `install_lanes` every change of
        // the word has been an RMW, so this one continues the release sequence of the installation,
        // and a thread that acquires the word synchronizes with it.
        let word = self.word.swap(ptr::without_provenance_mut(next), Ordering::Acquire);
        *arrived = self.known_lanes().take((word.addr() >> FIRST_LANE) as u32);
        traffic.laned(arrived);
        word
    }
}
