//! What a thread is to the kernel: its number, and how much it counts.
//!
//! Any thread may ask for its own number and demote any thread of this program. Nothing here ever
//! raises a thread again: without privileges the kernel would not allow it.

/// The kernel's number of a thread; nothing where it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(i32);

impl ThreadId {
    /// This thread's.
    pub fn current() -> Self {
        Self(kernel::current())
    }

    /// From [`ThreadId::number`].
    pub fn from_number(number: i32) -> Self {
        Self(number)
    }

    /// As a plain number; 0 where it is not known.
    pub fn number(self) -> i32 {
        self.0
    }

    /// Puts the thread last for good: it runs where nobody else wants to. Where the system has no
    /// such thing nothing happens. The caller sees to it that the thread has not ended, since its
    /// number may be given to another then.
    pub fn demote(self) {
        if self.0 != 0 {
            kernel::demote(self.0);
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod kernel {
    const NICEST: libc::c_int = 19;

    pub(super) fn current() -> i32 {
        // SAFETY: the call takes nothing and touches no memory.
        let number = unsafe { libc::syscall(libc::SYS_gettid) };
        i32::try_from(number).unwrap_or(0)
    }

    pub(super) fn demote(thread: i32) {
        let priority: libc::c_int = 0;
        // SAFETY: the kernel reads one integer, the only field of its `sched_param`, from the
        // pointer, and touches no other memory of ours; the same for the second call, which takes
        // numbers only.
        unsafe {
            let idle = libc::syscall(
                libc::SYS_sched_setscheduler,
                thread,
                libc::SCHED_IDLE,
                &raw const priority,
            );
            if idle != 0 {
                libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, thread, NICEST);
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod kernel {
    pub(super) fn current() -> i32 {
        0
    }

    pub(super) fn demote(_: i32) {}
}

#[cfg(test)]
mod tests {
    use super::ThreadId;

    #[test]
    fn two_threads_have_different_numbers_where_they_have_any() {
        let own = ThreadId::current();
        let other = std::thread::spawn(ThreadId::current).join().expect("it only asks");
        assert!(own.number() == 0 || own != other);
        assert_eq!(ThreadId::from_number(own.number()), own);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_demoted_thread_is_scheduled_as_idle() {
        let policy = std::thread::spawn(|| {
            let own = ThreadId::current();
            own.demote();
            // Field 41 of the kernel's line about a thread; the name before it ends with `)`.
            let path = format!("/proc/self/task/{}/stat", own.number());
            let line = std::fs::read_to_string(path).expect("the thread lives");
            let rest = line.rsplit_once(')').expect("a name in brackets").1;
            rest.split_whitespace().nth(38).map(str::to_owned)
        });
        let policy = policy.join().expect("it only reads");
        assert_eq!(policy.as_deref(), Some("5"), "SCHED_IDLE is 5");
    }
}
