//! Thread ids and scheduling attributes of the kernel.
//!
//! Any thread may ask for its own id and lower the priority of any thread of this program. No
//! function here raises the priority of another thread, which the kernel does not allow without
//! privileges.

use std::time::Duration;

/// Kernel id of a thread; 0 if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(i32);

impl ThreadId {
    /// Returns the id of the calling thread.
    pub fn current() -> Self {
        Self(kernel::current())
    }

    /// Creates an id from [`ThreadId::number`].
    pub fn from_number(number: i32) -> Self {
        Self(number)
    }

    /// Returns the plain number; 0 if unknown.
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns the processor time the thread has used, or `None` if it is unknown. Here and below,
    /// the caller ensures that the thread has not ended.
    ///
    /// On Linux 6.6 and later the call also affects scheduling: if the thread is running, the
    /// kernel accounts its time up to now and marks it for preemption if its slice is over and
    /// others wait (`update_curr` in the kernel's `fair.c`). Otherwise the kernel would notice at
    /// its next tick, milliseconds later.
    ///
    /// COST: a system call on Linux.
    pub fn cpu_time(self) -> Option<Duration> {
        if self.0 == 0 { None } else { kernel::cpu_time(self.0) }
    }

    /// Returns whether the thread is known to wait for something other than a processor.
    ///
    /// COST: reads a file, on Linux.
    pub fn is_blocked(self) -> bool {
        self.0 != 0 && kernel::is_blocked(self.0)
    }

    /// Requests time slices of that length for the calling thread, 0.1 to 100 ms. When there are
    /// more threads than processors, a thread that wakes preempts those with longer slices. Has an
    /// effect on Linux 6.12 and later only.
    pub fn set_slices(length: Duration) {
        kernel::set_slices(length);
    }

    /// Makes the calling thread wake when a sleep with a timeout ends. By default Linux ends such a
    /// sleep up to 50 µs later, to combine wake-ups. Threads that the thread spawns inherit this.
    pub fn set_precise_timeouts() {
        kernel::set_precise_timeouts();
    }

    /// Makes the calling thread a real-time thread of the lowest priority, or an ordinary one
    /// again. A real-time thread runs as soon as it wakes and preempts ordinary threads. It should
    /// run briefly, take part in no spinning, and sleep. Threads that it spawns meanwhile are
    /// ordinary ones.
    ///
    /// Does nothing unless Linux permits it (`CAP_SYS_NICE`, or a limit of 1 for `RLIMIT_RTPRIO`),
    /// or if the thread has another policy or niceness than the default.
    ///
    /// COST: up to three system calls.
    pub fn set_realtime(yes: bool) {
        kernel::set_realtime(yes);
    }

    /// Permanently lowers the thread's weight to a tenth, and gives it the usual time slices. The
    /// caller ensures that the thread has not ended, since its id may then be reused.
    pub fn lower_priority(self) {
        if self.0 != 0 {
            kernel::lower_priority(self.0);
        }
    }
}

#[cfg(all(target_os = "linux", not(any(purlin_cores, shuttle, miri))))]
mod kernel {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::os::unix::ffi::OsStrExt;
    use std::time::Duration;

    /// Increase in niceness that lowers a thread's weight to a tenth, and the maximum: sched(7).
    const NICER: i32 = 10;
    const NICEST: i32 = 19;
    /// Maximum time by which the kernel may delay the end of a sleep.
    const TIMER_SLACK: Duration = Duration::from_micros(1);

    pub(super) fn current() -> i32 {
        // SAFETY: the call takes no arguments and accesses no memory.
        let number = unsafe { libc::syscall(libc::SYS_gettid) };
        i32::try_from(number).unwrap_or(0)
    }

    pub(super) fn cpu_time(thread: i32) -> Option<Duration> {
        // Encoding of a thread's clock id: clock_getcpuclockid(3), CPUCLOCK_SCHED and
        // CPUCLOCK_PERTHREAD_MASK in the kernel's posix-timers.h.
        let clock = (!thread << 3) | 0b110;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes one `timespec` to the pointer.
        let known = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
        known.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }

    pub(super) fn is_blocked(thread: i32) -> bool {
        state(thread).is_ok_and(|state| state.is_some_and(|state| state != b'R'))
    }

    /// Returns the state letter of a thread.
    ///
    /// WHY without allocation: sysmon must not call the allocator for each thread it samples.
    fn state(thread: i32) -> io::Result<Option<u8>> {
        let mut path = [0; 40];
        let mut rest = &mut path[..];
        write!(rest, "/proc/self/task/{thread}/stat")?;
        let unused = rest.len();
        let path = &path[..path.len() - unused];
        let mut line = [0; 128];
        let len = File::open(OsStr::from_bytes(path))?.read(&mut line)?;
        // The state follows the name, which is in brackets and may contain some itself: proc(5).
        let line = &line[..len];
        let name_ends = line.iter().rposition(|&byte| byte == b')');
        Ok(name_ends.and_then(|end| line.get(end + 2)).copied())
    }

    pub(super) fn set_slices(length: Duration) {
        set_attributes(0, 0, length);
    }

    pub(super) fn set_precise_timeouts() {
        let slack = TIMER_SLACK.as_nanos() as libc::c_ulong;
        // SAFETY: the call takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack, 0, 0, 0) };
    }

    pub(super) fn set_realtime(yes: bool) {
        // WHY the flag stays set below: it cannot be cleared without privileges.
        let real_time = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
        let own = policy_and_flag(0);
        if yes && own & !libc::SCHED_RESET_ON_FORK == libc::SCHED_OTHER && niceness(0) == 0 {
            set_policy(real_time, 1);
        } else if !yes && own == real_time {
            set_policy(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        }
    }

    /// Returns a thread's policy, with the flag that resets the policy of threads it spawns.
    // WHY system calls, here and below: musl's wrappers do nothing.
    fn policy_and_flag(thread: i32) -> libc::c_int {
        // SAFETY: the call takes a number only.
        unsafe { libc::syscall(libc::SYS_sched_getscheduler, thread) as libc::c_int }
    }

    /// Sets the policy of the calling thread, if the kernel permits it.
    fn set_policy(policy: libc::c_int, priority: libc::c_int) {
        // SAFETY: the kernel reads one integer, the only field of its `sched_param`, from the
        // pointer, and accesses no other memory of this process.
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    }

    fn niceness(thread: i32) -> i32 {
        // SAFETY: the call takes numbers only.
        unsafe { libc::getpriority(libc::PRIO_PROCESS, thread as _) }
    }

    pub(super) fn lower_priority(thread: i32) {
        set_attributes(thread, NICER, Duration::ZERO);
    }

    /// Sets the time slices of an ordinary thread (zero: the default) and adds `more` to its
    /// niceness. Does nothing if the thread has another policy, which the program chose.
    fn set_attributes(thread: i32, more: i32, slice: Duration) {
        if policy_and_flag(thread) & !libc::SCHED_RESET_ON_FORK != libc::SCHED_OTHER {
            return;
        }
        // The kernel's `struct sched_attr`: sched_setattr(2). The field `slice` is the time slice
        // since Linux 6.12; earlier kernels ignore it.
        #[repr(C)]
        struct Attributes {
            size: u32,
            policy: u32,
            flags: u64,
            nice: i32,
            priority: u32,
            slice: u64,
            deadline: u64,
            period: u64,
        }
        let attributes = Attributes {
            size: size_of::<Attributes>() as u32,
            policy: libc::SCHED_OTHER as u32,
            flags: 0,
            nice: NICEST.min(niceness(thread) + more),
            priority: 0,
            slice: slice.as_nanos() as u64,
            deadline: 0,
            period: 0,
        };
        // SAFETY: the kernel reads as many bytes from the pointer as the field `size` says.
        unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const attributes, 0) };
    }
}

#[cfg(not(all(target_os = "linux", not(any(purlin_cores, shuttle, miri)))))]
mod kernel {
    use std::time::Duration;

    pub(super) fn current() -> i32 {
        0
    }

    pub(super) fn cpu_time(_: i32) -> Option<Duration> {
        None
    }

    pub(super) fn is_blocked(_: i32) -> bool {
        false
    }

    pub(super) fn set_slices(_: Duration) {}

    pub(super) fn set_precise_timeouts() {}

    pub(super) fn set_realtime(_: bool) {}

    pub(super) fn lower_priority(_: i32) {}
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ThreadId;

    #[test]
    fn threads_have_distinct_ids_if_ids_are_known() {
        let own = ThreadId::current();
        let other = std::thread::spawn(ThreadId::current).join().expect("it only asks");
        assert!(own.number() == 0 || own != other);
        assert_eq!(ThreadId::from_number(own.number()), own);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn computing_thread_uses_time_and_waiting_thread_is_blocked() {
        let own = ThreadId::current();
        let before = own.cpu_time().expect("it lives");
        // Processor time, which advances as long as the thread computes.
        while own.cpu_time().expect("it lives") < before + Duration::from_millis(1) {}
        assert!(!own.is_blocked(), "it is just asking");
        let (tx, rx) = std::sync::mpsc::channel();
        let (give, given) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || {
            tx.send(ThreadId::current()).expect("the test lives");
            given.recv().ok()
        });
        let other = rx.recv().expect("the thread lives");
        while !other.is_blocked() {
            std::thread::yield_now();
        }
        drop(give);
        waiting.join().expect("it only waits");
    }

    /// Fields of the kernel's line about the calling thread, proc(5), numbered from 1. The name before
    /// them is in brackets.
    #[cfg(target_os = "linux")]
    fn fields<const N: usize>(numbers: [usize; N]) -> [i32; N] {
        let path = format!("/proc/self/task/{}/stat", ThreadId::current().number());
        let line = std::fs::read_to_string(path).expect("the thread lives");
        let rest = line.rsplit_once(')').expect("a name in brackets").1;
        let field = |number: usize| rest.split_whitespace().nth(number - 3)?.parse().ok();
        numbers.map(|number| field(number).expect("a number"))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lowered_thread_has_a_higher_niceness_and_is_never_raised() {
        let seen = std::thread::spawn(|| {
            let own = ThreadId::current();
            let nice = || fields([19]);
            let usual = nice();
            ThreadId::set_slices(Duration::from_millis(1));
            let often = nice();
            own.lower_priority();
            let lowered = nice();
            own.lower_priority();
            (usual, often, lowered, nice())
        });
        let ([usual], often, lowered, twice) = seen.join().expect("it only reads");
        let nicer = |by: i32| [19.min(usual + by)];
        assert_eq!((often, lowered, twice), ([usual], nicer(10), nicer(20)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn precise_timeouts_are_those_of_the_calling_thread() {
        let slack = || {
            let path = format!("/proc/{}/timerslack_ns", ThreadId::current().number());
            let text = std::fs::read_to_string(path).expect("the thread lives");
            text.trim().parse::<u64>().expect("a number")
        };
        let before = slack();
        let precise = std::thread::spawn(move || {
            ThreadId::set_precise_timeouts();
            slack()
        });
        assert_eq!((precise.join().expect("it only reads"), slack()), (1000, before));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn real_time_thread_spawns_ordinary_threads_and_reverts() {
        const PRIORITY_AND_POLICY: [usize; 2] = [40, 41];
        let before = fields(PRIORITY_AND_POLICY);
        let seen = std::thread::spawn(|| {
            ThreadId::set_realtime(true);
            let itself = fields(PRIORITY_AND_POLICY);
            let begun = std::thread::spawn(|| fields(PRIORITY_AND_POLICY)).join();
            ThreadId::set_realtime(false);
            let after = fields(PRIORITY_AND_POLICY);
            ThreadId::set_realtime(true);
            assert_eq!(fields(PRIORITY_AND_POLICY), itself, "as often as it likes");
            (itself, begun.expect("it only reads"), after)
        });
        let (itself, begun, after) = seen.join().expect("it only asks and reads");
        // SCHED_RR is 2. The result depends on the program's privileges.
        assert!(itself == [1, 2] || itself == before, "{itself:?}");
        assert_eq!((begun, after), (before, before));
    }
}
