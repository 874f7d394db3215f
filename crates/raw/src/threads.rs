//! What a thread is to the kernel: its number, what it is at, and how much it counts.
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

    /// Whether the thread could go on and does not because others have the processor, as far as can
    /// be known: a glance that may be old at once. The caller sees to it that the thread has not
    /// ended.
    ///
    /// COST: two system calls if the thread runs, else five, on Linux.
    pub fn is_preempted(self) -> bool {
        self.0 != 0 && kernel::is_preempted(self.0)
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

#[cfg(all(target_os = "linux", not(any(shuttle, miri))))]
mod kernel {
    const NICEST: libc::c_int = 19;

    pub(super) fn current() -> i32 {
        // SAFETY: the call takes nothing and touches no memory.
        let number = unsafe { libc::syscall(libc::SYS_gettid) };
        i32::try_from(number).unwrap_or(0)
    }

    pub(super) fn is_preempted(thread: i32) -> bool {
        let Some(before) = time_used(thread) else { return false };
        // WHY twice: a thread that is running has used more in between.
        time_used(thread) == Some(before) && is_ready(thread)
    }

    /// The processor time of a thread, in nanoseconds.
    fn time_used(thread: i32) -> Option<i64> {
        // How the kernel numbers the clock of a thread: clock_getcpuclockid(3), CPUCLOCK_SCHED and
        // CPUCLOCK_PERTHREAD_MASK in the kernel's posix-timers.h.
        let clock = (!thread << 3) | 0b110;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes one `timespec` to the pointer.
        let known = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
        known.then(|| time.tv_sec * 1_000_000_000 + time.tv_nsec)
    }

    /// Whether a thread waits for nothing but a processor.
    fn is_ready(thread: i32) -> bool {
        let line = std::fs::read(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
        // The state follows the name, which is in brackets and may hold some itself: proc(5).
        let name_ends = line.iter().rposition(|&byte| byte == b')');
        name_ends.is_some_and(|end| line.get(end + 2) == Some(&b'R'))
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

#[cfg(not(all(target_os = "linux", not(any(shuttle, miri)))))]
mod kernel {
    pub(super) fn current() -> i32 {
        0
    }

    pub(super) fn is_preempted(_: i32) -> bool {
        false
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

    #[test]
    fn a_thread_that_runs_or_waits_for_a_message_is_not_preempted() {
        assert!(!ThreadId::current().is_preempted(), "it is just asking");
        let (tell, told) = std::sync::mpsc::channel();
        let (give, given) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || {
            tell.send(ThreadId::current()).expect("the test lives");
            given.recv().ok()
        });
        let waiting_one = told.recv().expect("the thread lives");
        // It may still be on its way to `recv`, and preempted there.
        while waiting_one.is_preempted() {
            std::thread::yield_now();
        }
        drop(give);
        waiting.join().expect("it only waits");
    }

    // F2: on one processor only one of two threads that compute can run.
    #[cfg(target_os = "linux")]
    #[test]
    fn of_threads_that_compute_on_one_processor_some_are_preempted() {
        use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
        static OVER: AtomicBool = AtomicBool::new(false);
        static FIRST: AtomicI32 = AtomicI32::new(0);
        fn stay_on_one_processor() {
            // SAFETY: a set of processors is plain bits; the kernel reads it from the pointer.
            unsafe {
                let mut one: libc::cpu_set_t = std::mem::zeroed();
                libc::sched_getaffinity(0, size_of_val(&one), &raw mut one);
                let first = (0..libc::CPU_SETSIZE as usize).find(|&n| libc::CPU_ISSET(n, &one));
                libc::CPU_ZERO(&mut one);
                libc::CPU_SET(first.expect("this thread runs somewhere"), &mut one);
                libc::sched_setaffinity(0, size_of_val(&one), &raw const one);
            }
        }
        let computing = std::thread::spawn(|| {
            stay_on_one_processor();
            FIRST.store(ThreadId::current().number(), Ordering::Release);
            while !OVER.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let seen = std::thread::spawn(|| {
            stay_on_one_processor();
            while FIRST.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            // While this thread runs, the other does not.
            let other = ThreadId::from_number(FIRST.load(Ordering::Acquire));
            (0..1000).any(|_| other.is_preempted())
        });
        let seen = seen.join();
        OVER.store(true, Ordering::Relaxed);
        computing.join().expect("it only computes");
        assert!(seen.expect("it only looks"));
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
