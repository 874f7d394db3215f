//! Asymmetric fence: nearly free for a thread that executes it often, a system call for one that
//! executes it rarely.
//!
//! Any thread may use it. It serves the store-buffering (Dekker) pattern, in which each side writes
//! one word and then reads the other side's: of a `light` and a `heavy` fence, at least one side
//! reads what the other wrote before its fence.
//!
//! # Mechanism
//!
//! On Linux `membarrier` makes every core that runs a thread of this process execute a full
//! barrier. So the rare side pays for both, and the frequent side needs only a compiler fence. If
//! the kernel has no such call, or refuses it, both sides use a sequentially consistent fence.
//!
//! INVARIANT: the kernel is asked before the first fence, and its answer never changes.
//!
//! COST: `light` costs nothing, or a fence of about 5 ns; `heavy` costs a system call of less than
//! 1 µs.

use crate::sync::{Ordering, fence};

/// Returns whether `light` suffices for the frequent side; otherwise that side must execute a
/// sequentially consistent fence. The first call asks the kernel.
pub(crate) fn light_suffices() -> bool {
    kernel::registered()
}

/// Fence of the frequent side if [`light_suffices`]: a compiler fence.
#[inline(always)]
pub(crate) fn light() {
    // ORDER: pairs with `heavy`, which makes this core execute a full barrier.
    kernel::interruptible();
}

/// Fence of the rare side.
pub(crate) fn heavy() {
    // ORDER: pairs with `light`, or with the SeqCst fence that replaces it.
    if light_suffices() {
        kernel::barrier();
    }
    fence(Ordering::SeqCst);
}

#[cfg(all(target_os = "linux", not(any(loom, purlin_cores, shuttle, miri))))]
mod kernel {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence};

    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes a command, flags and a core number, and accesses no memory of this
        // process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Returns whether the kernel accepted the registration and executes the barrier.
    pub(super) fn registered() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        // WHY the barrier too: a sandbox may allow one command and not the other.
        *REGISTERED
            .get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED))
    }

    #[inline(always)]
    pub(super) fn interruptible() {
        compiler_fence(Ordering::SeqCst);
    }

    pub(super) fn barrier() {
        // WHY panic: code that relies on the barrier must not continue without it.
        assert!(membarrier(PRIVATE_EXPEDITED), "the kernel took its barrier back");
    }
}

#[cfg(all(any(not(target_os = "linux"), shuttle, miri), not(purlin_cores), not(loom)))]
mod kernel {
    pub(super) fn registered() -> bool {
        false
    }

    pub(super) fn interruptible() {}

    pub(super) fn barrier() {}
}

/// Kernel of a simulated machine, which executes accesses in the order of simulated time.
#[cfg(purlin_cores)]
mod kernel {
    /// Duration of `membarrier` in nanoseconds.
    const BARRIER: f64 = 1000.0;

    pub(super) fn registered() -> bool {
        true
    }

    pub(super) fn interruptible() {}

    pub(super) fn barrier() {
        purlin_simulator::work(BARRIER);
    }
}

/// Simulated kernel for the models, which say whether it has the barrier.
///
/// WHY a fence on the frequent side models the interruption at any point: the other side sees what
/// this thread wrote before the fence. If the real interruption came earlier, this thread reads
/// what the other side wrote.
#[cfg(loom)]
pub(crate) mod kernel {
    use std::cell::Cell;

    use crate::sync::{Ordering, fence};

    // WHY `std`'s thread-local: it belongs to the thread that runs the whole model.
    std::thread_local! {
        static HAS_BARRIER: Cell<bool> = const { Cell::new(false) };
    }

    /// Sets whether the simulated kernel of this thread has the barrier.
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
