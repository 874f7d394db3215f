//! A program that handles `SIGURG` keeps its handler. WHY a separate test program: signal handlers
//! are those of the whole process.

#![cfg(all(target_os = "linux", not(any(loom, purlin_cores, shuttle, miri))))]

use std::sync::atomic::{AtomicU32, Ordering};
use std::{mem, ptr};

use purlin_raw::YieldTimer;

static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_program_with_a_handler_keeps_it_and_its_threads_have_no_yield_timers() {
    // SAFETY: all zeros is a valid `sigaction`, and the handler only adds to an atomic.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = count as extern "C" fn(libc::c_int) as usize;
        assert_eq!(libc::sigaction(libc::SIGURG, &raw const action, ptr::null_mut()), 0);
    }
    assert!(YieldTimer::for_current_thread().is_none());
    // SAFETY: the call takes a number only; the signal is handled before it returns.
    assert_eq!(unsafe { libc::raise(libc::SIGURG) }, 0);
    assert_eq!(HANDLED.load(Ordering::Relaxed), 1);
}
