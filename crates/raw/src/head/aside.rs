//! The word of a process where there are lanes: pushing aside, telling, installing and removing.
//!
//! Called by `head`, whose opening comment has the protocol; `lanes` has what happens in a lane.

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
    /// Adds a link to the sender's lane; `None` if it is frozen.
    ///
    /// # Safety
    /// As for `push`, and `word` was read with acquire and had lanes; on `None` the caller has the
    /// link back.
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
        // SAFETY: by the contract; a frozen lane has not taken the link.
        let told = match unsafe { lanes.push(lane, new, era(word)) } {
            Found::Frozen => return None,
            Found::Empty => false,
            Found::Others if class == Class::Signal => false,
            Found::Others => {
                // WHY look, since whoever found the lane empty tells: that one may have been
                // interrupted before it did, and this message need not wait for it.
                let now = self.word.load(Ordering::Relaxed);
                !has_lanes(now) || now.addr() & bit != 0
            }
        };
        Some(if told { Pushed::Queued } else { self.tell(bit, class) })
    }

    /// Says that there is something in a lane.
    fn tell(&self, bit: usize, class: Class) -> Pushed {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if is_closed(word) || !has_lanes(word) {
                // The era is over, and what was in the lane is the owner's already.
                return Pushed::Queued;
            }
            let (flags, wakes) = arrival(word, class);
            let next = word.map_addr(|addr| (addr & !FLAGS) | flags | bit);
            // ORDER: release to `take`, which then finds the link in the lane; acquire from `sleep`,
            // as in `push`. WHY also if nothing changes: the owner may have taken the bit a moment
            // ago, and the exchange alone sees that.
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if wakes => return Pushed::Schedule,
                Ok(_) => return Pushed::Queued,
                Err(now) => word = now,
            }
        }
    }

    /// The lanes, for who has found them in use with an acquiring load, and for the owner.
    pub(super) fn known_lanes(&self) -> &Lanes {
        // SAFETY: the pointer was written before the lanes were first in use, never changes again,
        // and its memory stays as long as `self`.
        unsafe { self.lanes.load(Ordering::Relaxed).as_ref() }.expect("lanes were installed")
    }

    /// A take with lanes before it or after it.
    #[cold]
    #[inline(never)]
    pub(super) fn take_aside(&self, traffic: &mut Traffic, arrived: &mut Chain) -> *mut Link {
        match has_lanes(self.word.load(Ordering::Relaxed)) {
            true => self.take_lanes(traffic, arrived),
            false => self.install_lanes(traffic, arrived),
        }
    }

    /// Takes the stack and leaves lanes in its place.
    fn install_lanes(&self, traffic: &mut Traffic, arrived: &mut Chain) -> *mut Link {
        traffic.installed();
        let mut lanes = self.lanes.load(Ordering::Relaxed);
        if lanes.is_null() {
            lanes = Box::into_raw(Box::new(Lanes::new()));
            self.lanes.store(lanes, Ordering::Relaxed);
        }
        let era = self.known_lanes().last_era() + 1;
        let next = LANES | era << COUNT_SHIFT;
        // ORDER: acquire as in `take`; release of the lanes and the pointer to senders.
        let word = self.word.swap(ptr::without_provenance_mut(next), Ordering::AcqRel);
        // SAFETY: the swap gave the stack to us.
        *arrived = unsafe { Chain::turn_round(link(word)) };
        word
    }

    /// Takes what is in the lanes; when they bring too little, for the last time in this era.
    fn take_lanes(&self, traffic: &mut Traffic, arrived: &mut Chain) -> *mut Link {
        let era = era(self.word.load(Ordering::Relaxed));
        if traffic.wants_stack() && era < LAST_ERA {
            // ORDER: acquire from `wake`. The freezing releases this end to senders.
            let word = self.word.swap(ptr::null_mut(), Ordering::Acquire);
            *arrived = self.known_lanes().freeze(era);
            return word;
        }
        let next = LANES | era << COUNT_SHIFT;
        // ORDER: acquire from `tell` and `wake`. Nothing to release: the word has been changed by
        // exchanges alone since the installation, so who reads this one acquires that.
        let word = self.word.swap(ptr::without_provenance_mut(next), Ordering::Acquire);
        *arrived = self.known_lanes().take((word.addr() >> FIRST_LANE) as u32);
        traffic.laned(arrived);
        word
    }
}
