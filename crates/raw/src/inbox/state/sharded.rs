//! Sharded mode of the inbox state word: push to a shard, announce, install and remove shards.
//!
//! Called by `state`, whose module documentation has the protocol. `shards` implements one shard.

use std::ptr::{self, NonNull};

use super::word::{
    COUNT_MAX, COUNT_SHIFT, FIRST_SHARD_BIT, FLAGS, LAST_EPOCH, SHARDS, arrival, epoch, has_shards,
    header, is_closed,
};
use super::{PushOutcome, State};
use crate::inbox::batch::Batch;
use crate::inbox::carry::carried;
use crate::inbox::header::{Class, Header};
use crate::inbox::shards::{Contention, ShardState, Shards};
use crate::sync::Ordering;

impl State {
    /// Pushes a signal into the sender's shard. Returns `None` if the shard is frozen.
    ///
    /// # Safety
    /// As for `push`; `word` was read with acquire and was sharded. On `None` the caller owns the
    /// header again.
    pub(super) unsafe fn push_to_shard(
        &self,
        word: *mut Header,
        new: NonNull<Header>,
        class: Class,
        sender: u32,
    ) -> Option<PushOutcome> {
        // SAFETY: by the contract.
        let shards = unsafe { self.known_shards() };
        let shard = shards.shard_of(sender);
        let bit = 1 << (FIRST_SHARD_BIT + shard as u32);
        // SAFETY: by the contract; a frozen shard has not taken the header.
        let announced = match unsafe { shards.push(shard, new, epoch(word)) } {
            ShardState::Frozen => return None,
            ShardState::Empty => false,
            ShardState::Others if class == Class::Signal => false,
            ShardState::Others => {
                // WHY check, although the sender that found the shard empty announces it: that
                // sender may be preempted before it does, and this message must not wait for it.
                // ORDER: relaxed: if the receiver emptied the shard before this push, the push
                // synchronizes with it, and this load cannot return an older word. So a stale word
                // with the bit set means that the receiver will still take the shard, with this
                // message in it.
                let now = self.word.load(Ordering::Relaxed);
                !has_shards(now) || now.addr() & bit != 0
            }
        };
        Some(if announced { PushOutcome::Queued } else { self.announce(bit, class) })
    }

    /// Announces the contents of a shard to the receiver.
    fn announce(&self, bit: usize, class: Class) -> PushOutcome {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if is_closed(word) || !has_shards(word) {
                // The epoch has ended, and the receiver has taken the contents of the shard.
                return PushOutcome::Queued;
            }
            let (flags, wakes) = arrival(word, class);
            let next = word.map_addr(|addr| (addr & !FLAGS) | flags | bit);
            // ORDER: release to `take`, which then sees the header in the shard. Acquire from
            // `sleep`, as in `push`.
            // WHY an RMW even if nothing changes: the receiver may just have taken the bit, and
            // only the RMW reads the latest value.
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if wakes => return PushOutcome::Schedule,
                Ok(_) => return PushOutcome::Queued,
                Err(now) => word = now,
            }
        }
    }

    /// Returns the shards if they have been allocated. Any thread may call it.
    pub(super) fn allocated_shards(&self) -> Option<&Shards> {
        // ORDER: acquire from the thread that allocated them.
        // SAFETY: the pointer never changes again, and its target lives as long as `self`.
        unsafe { self.extension()?.shards.load(Ordering::Acquire).as_ref() }
    }

    /// Returns the shards, and allocates them if necessary. Any thread may call it.
    #[cold]
    #[inline(never)]
    pub(super) fn shards_or_new(&self) -> &Shards {
        if let Some(shards) = self.allocated_shards() {
            return shards;
        }
        let place = &self.extension().unwrap_or_else(|| self.allocate()).shards;
        let new = Box::into_raw(Box::new(Shards::new()));
        // ORDER: release to `allocated_shards`. Acquire, on failure, from the thread that was faster.
        let (release, acquire) = (Ordering::Release, Ordering::Acquire);
        let shards = match place.compare_exchange(ptr::null_mut(), new, release, acquire) {
            Ok(_) => new,
            Err(others) => {
                // SAFETY: it came from the box above, and no other thread knows it.
                drop(unsafe { Box::from_raw(new) });
                others
            }
        };
        // SAFETY: as in `allocated_shards`.
        unsafe { &*shards }
    }

    /// Returns the shards.
    ///
    /// # Safety
    /// The caller has found the inbox sharded with an acquire load, or is the receiver.
    pub(super) unsafe fn known_shards(&self) -> &Shards {
        let shards = self.extension().map(|extension| extension.shards.load(Ordering::Relaxed));
        // SAFETY: by the contract. The receiver had loaded the pointer, with acquire, or stored it
        // before the shards were first in use, and it never changes again. Its target lives as long
        // as `self`.
        shards.and_then(|shards| unsafe { shards.as_ref() }).expect("shards were installed")
    }

    /// A take that starts or ends with a sharded inbox.
    ///
    /// # Safety
    /// As for `take`.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn take_from_shards(
        &self,
        contention: &mut Contention,
        arrived: &mut Batch,
    ) -> *mut Header {
        // SAFETY: by the contract.
        unsafe {
            match has_shards(self.word.load(Ordering::Relaxed)) {
                true => self.take_shards(contention, arrived),
                false => self.install_shards(contention, arrived),
            }
        }
    }

    /// Takes the stack and leaves the inbox sharded.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn install_shards(
        &self,
        contention: &mut Contention,
        arrived: &mut Batch,
    ) -> *mut Header {
        contention.installed();
        let shards = self.shards_or_new();
        let epoch = shards.last_epoch() + 1;
        let next = SHARDS | epoch << COUNT_SHIFT;
        // ORDER: acquire as in `take`; release to senders: the shards and the pointer to them.
        let word = self.word.swap(ptr::without_provenance_mut(next), Ordering::AcqRel);
        // SAFETY: the swap transferred the stack to this thread.
        *arrived = unsafe { Batch::reverse(header(word)) };
        if arrived.len > COUNT_MAX {
            shards.remove_carried(carried(arrived.len, COUNT_MAX));
        }
        word
    }

    /// Takes the contents of the announced shards. Ends the epoch if they bring too little.
    ///
    /// # Safety
    /// As for `take`; the inbox is sharded.
    unsafe fn take_shards(&self, contention: &mut Contention, arrived: &mut Batch) -> *mut Header {
        let epoch = epoch(self.word.load(Ordering::Relaxed));
        if contention.is_calm() && epoch < LAST_EPOCH {
            // ORDER: acquire from `wake`. `freeze` releases the end of the epoch to senders.
            let word = self.word.swap(ptr::null_mut(), Ordering::Acquire);
            // SAFETY: by the contract; the swap ended the epoch.
            *arrived = unsafe { self.known_shards().freeze(epoch) };
            return word;
        }
        let next = SHARDS | epoch << COUNT_SHIFT;
        // ORDER: acquire from `announce` and `wake`. No release: since `install_shards` every change
        // of the word has been an RMW, so this one continues the release sequence of the
        // installation, and a thread that acquires the word synchronizes with it.
        let word = self.word.swap(ptr::without_provenance_mut(next), Ordering::Acquire);
        // SAFETY: by the contract.
        *arrived = unsafe { self.known_shards().take((word.addr() >> FIRST_SHARD_BIT) as u32) };
        contention.count_sharded(arrived);
        word
    }
}
