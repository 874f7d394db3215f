//! Yield timers: timers of the kernel that make a thread yield its processor.
//!
//! A timer sends its thread the signal `SIGURG` once, when it expires; the signal's handler calls
//! `sched_yield`. If other threads wait for that processor, one of them runs then, and not only at
//! the kernel's next tick. The Go runtime preempts goroutines by the same signal, which is ignored
//! by default; gdb passes it on without stopping.
//!
//! The handler is installed with a timer, unless the program has one for that signal. A system call
//! that the signal interrupts is restarted, or fails with `EINTR` where `signal(7)` says so: `poll`
//! and `nanosleep`, or a read from a socket with a timeout.
//!
//! WHY the timers do not repeat: a thread that is interrupted whenever it gets the processor makes
//! no progress, and it may hold a lock for which the others wait.

use std::time::Duration;

use crate::thread::os::ThreadId;

/// A timer that makes one thread yield its processor.
#[derive(Debug)]
pub struct YieldTimer(kernel::Timer);

impl YieldTimer {
    /// Creates a timer for the calling thread. Returns `None` if there can be none: on systems
    /// other than Linux, if the program handles the signal, or beyond the limit of pending signals
    /// (`RLIMIT_SIGPENDING`).
    ///
    /// COST: two system calls.
    pub fn for_current_thread() -> Option<Self> {
        match ThreadId::current().number() {
            0 => None,
            thread => kernel::create(thread).map(Self),
        }
    }

    /// Makes the thread yield once, after that time, and replaces the time set before.
    ///
    /// COST: a system call.
    pub fn set(&self, after: Duration) {
        // WHY at least 1: a timer of zero is off.
        kernel::set(self.0, after.max(Duration::from_nanos(1)));
    }

    /// Cancels the time set before.
    ///
    /// COST: a system call.
    pub fn cancel(&self) {
        kernel::set(self.0, Duration::ZERO);
    }
}

impl Drop for YieldTimer {
    fn drop(&mut self) {
        kernel::delete(self.0);
    }
}

#[cfg(all(target_os = "linux", not(any(purlin_cores, shuttle, miri))))]
mod kernel {
    use std::time::Duration;
    use std::{mem, ptr};

    use libc::{c_int, c_long};

    const SIGNAL: c_int = libc::SIGURG;

    /// Number of a timer in the kernel.
    ///
    /// WHY system calls and not the C library's functions: its handle is a pointer.
    pub(super) type Timer = c_int;

    extern "C" fn handle(_: c_int) {
        // SAFETY: the location of this thread's `errno` is valid, and the interrupted code finds
        // it unchanged. The system call takes no arguments and is async-signal-safe.
        unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            libc::syscall(libc::SYS_sched_yield);
            *errno = before;
        }
    }

    /// Installs the handler unless the program has another one. Returns whether it is installed.
    fn install() -> bool {
        let own = handle as extern "C" fn(c_int) as usize;
        // SAFETY: all zeros is a valid `sigaction`: no flags, no signals blocked.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        // SAFETY: the C library writes one `sigaction` to the pointer.
        let read = unsafe { libc::sigaction(SIGNAL, ptr::null(), &raw mut action) } == 0;
        if !read || action.sa_sigaction == own {
            return read;
        }
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
            return false;
        }
        action.sa_sigaction = own;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        // SAFETY: `handle` has the signature of a handler without `SA_SIGINFO`, and calls only what
        // a handler may call.
        unsafe { libc::sigaction(SIGNAL, &raw const action, ptr::null_mut()) == 0 }
    }

    pub(super) fn create(thread: i32) -> Option<Timer> {
        if !install() {
            return None;
        }
        // SAFETY: all zeros is a valid `sigevent`.
        let mut event: libc::sigevent = unsafe { mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = SIGNAL;
        event.sigev_notify_thread_id = thread;
        let mut timer: Timer = 0;
        // SAFETY: the kernel reads one `sigevent` and writes the number of the timer.
        let done = unsafe {
            libc::syscall(
                libc::SYS_timer_create,
                libc::CLOCK_MONOTONIC,
                &raw const event,
                &raw mut timer,
            )
        };
        (done == 0).then_some(timer)
    }

    pub(super) fn set(timer: Timer, after: Duration) {
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let value = libc::timespec {
            tv_sec: after.as_secs() as libc::time_t,
            tv_nsec: c_long::from(after.subsec_nanos() as i32),
        };
        let times = libc::itimerspec { it_interval: zero, it_value: value };
        let none = ptr::null_mut::<libc::itimerspec>();
        // SAFETY: the kernel reads one `itimerspec` from the pointer and writes nothing.
        unsafe { libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const times, none) };
    }

    pub(super) fn delete(timer: Timer) {
        // SAFETY: the call takes a number only.
        unsafe { libc::syscall(libc::SYS_timer_delete, timer) };
    }
}

#[cfg(not(all(target_os = "linux", not(any(purlin_cores, shuttle, miri)))))]
mod kernel {
    use std::time::Duration;

    #[derive(Clone, Copy, Debug)]
    pub(super) enum Timer {}

    pub(super) fn create(_: i32) -> Option<Timer> {
        None
    }

    pub(super) fn set(_: Timer, _: Duration) {}

    pub(super) fn delete(_: Timer) {}
}

#[cfg(all(test, target_os = "linux", not(any(purlin_cores, shuttle, miri))))]
mod tests {
    use std::time::Duration;
    use std::{mem, ptr};

    use super::YieldTimer;

    #[test]
    fn an_expired_timer_interrupts_its_thread() {
        let timer = YieldTimer::for_current_thread().expect("on Linux");
        // SAFETY: all zeros are valid signal sets, and the calls read and write these sets only.
        unsafe {
            let (mut urgent, mut mask) = (mem::zeroed(), mem::zeroed());
            libc::sigemptyset(&raw mut urgent);
            libc::sigaddset(&raw mut urgent, libc::SIGURG);
            assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const urgent, &raw mut mask), 0);
            timer.set(Duration::ZERO);
            libc::sigdelset(&raw mut mask, libc::SIGURG);
            // Unblocks the signal, and returns once the handler has run.
            assert_eq!(libc::sigsuspend(&raw const mask), -1);
            let restored =
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut());
            assert_eq!(restored, 0);
        }
        timer.set(Duration::from_secs(1));
        timer.cancel();
    }
}
