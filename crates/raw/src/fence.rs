//! A barrier between a thread that crosses it all the time and one that hardly ever does.
//!
//! Any thread may use it. It is for the pattern in which each side writes one word and then reads
//! the other's: of a `light` and a `heavy` one at least sees what the other wrote before it.
//!
//! # Idea
//!
//! On Linux the kernel can interrupt every core that runs a thread of this program and make it pass
//! a full barrier (`membarrier`). The rare side pays for both: the frequent side only has to keep
//! the compiler from reordering. Where the kernel has no such call, or refuses it, both sides use
//! an ordinary fence.
//!
//! INVARIANT: which of the two it is, is settled before the first barrier and never changes: a
//! [`Fence`] can be had only from [`Fence::settled`].
//!
//! COST: `light` nothing, or a fence of about 5 ns; `heavy` a system call, under a microsecond.

use crate::sync::{Ordering, fence};

/// Which kind of barrier this program uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    by_kernel: bool,
}

impl Fence {
    /// The kind of barrier, asked of the kernel the first time.
    pub(crate) fn settled() -> Self {
        Self { by_kernel: kernel::registered() }
    }

    /// Whether `light` is all that the frequent side needs; if not it has to pass a sequentially
    /// consistent fence.
    pub(crate) fn is_free(self) -> bool {
        self.by_kernel
    }

    /// The barrier of the side that crosses it often, where it is free: the compiler keeps the order.
    #[inline(always)]
    pub(crate) fn light() {
        // ORDER: the partner is `heavy`, which makes this core pass a full barrier.
        kernel::interruptible();
    }

    /// The barrier of the side that crosses it rarely.
    pub(crate) fn heavy(self) {
        // ORDER: the partner is `light`, or the fence that stands for it.
        if self.by_kernel {
            kernel::barrier();
        }
        fence(Ordering::SeqCst);
    }
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
mod kernel {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence};

    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes a command, flags and a core, none of which it uses here, and
        // touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether the kernel has promised this program its barrier.
    pub(super) fn registered() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        // WHY the barrier too: a sandbox may allow the one call and not the other.
        *REGISTERED
            .get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED))
    }

    #[inline(always)]
    pub(super) fn interruptible() {
        compiler_fence(Ordering::SeqCst);
    }

    pub(super) fn barrier() {
        // WHY: what rests on the barrier must not go on without it.
        assert!(membarrier(PRIVATE_EXPEDITED), "the kernel took its barrier back");
    }
}

#[cfg(all(any(not(target_os = "linux"), shuttle, miri), not(loom)))]
mod kernel {
    pub(super) fn registered() -> bool {
        false
    }

    pub(super) fn interruptible() {}

    pub(super) fn barrier() {}
}

/// A kernel that has the barrier where a model says so.
///
/// WHY a fence stands for the interruption, wherever it may come: what this thread wrote before, the
/// other side sees; where the interruption came even earlier, this thread reads what the other side
/// wrote.
#[cfg(loom)]
pub(crate) mod kernel {
    use std::cell::Cell;

    use crate::sync::{Ordering, fence};

    // WHY `std`'s: it is of the thread that runs the whole model.
    std::thread_local! {
        static HAS_BARRIER: Cell<bool> = const { Cell::new(false) };
    }

    /// What the kernel of this thread's models has from now on.
    pub fn has_barrier(it_has: bool) {
        HAS_BARRIER.set(it_has);
    }

    pub(super) fn registered() -> bool {
        HAS_BARRIER.get()
    }

    pub(super) fn interruptible() {
        if registered() {
            fence(Ordering::SeqCst);
        }
    }

    pub(super) fn barrier() {}
}
