//! Processor of a thread, and a wake-up that keeps a thread off the processors of others.

use crate::thread::os::ThreadId;

impl ThreadId {
    /// Returns the processor on which the calling thread runs, or `None` if it is unknown.
    ///
    /// COST: a read of memory with glibc 2.35 and later, otherwise a call of the vDSO.
    pub fn current_processor() -> Option<u32> {
        kernel::current_processor()
    }

    /// Calls `wake`, which wakes the thread. The kernel does not place the thread on `processors`
    /// meanwhile, unless they are all it may use. Afterwards the thread may use the same ones as before.
    ///
    /// A change of the processors that the thread may use is lost if another thread makes it during
    /// the call, so the caller ensures that no other call for the thread is under way. Threads that the
    /// thread spawns before the call has returned are kept off `processors` for good. If the thread has
    /// ended, the kernel reports an error, which is ignored.
    ///
    /// COST: three system calls on Linux, 1 to 2 µs.
    pub fn wake_apart(self, processors: impl Iterator<Item = u32>, wake: impl FnOnce()) {
        match (self.number() != 0).then(|| kernel::ProcessorSet::of(self.number())).flatten() {
            Some(usable) => {
                let apart = usable.without(processors);
                let set = !apart.is_empty() && apart.set(self.number());
                wake();
                if set {
                    usable.set(self.number());
                }
            }
            None => wake(),
        }
    }
}

#[cfg(all(target_os = "linux", not(any(purlin_cores, shuttle, miri))))]
mod kernel {
    /// Processors that a thread may use.
    #[derive(Clone, Copy)]
    pub(super) struct ProcessorSet(libc::cpu_set_t);

    impl ProcessorSet {
        /// Returns those of a thread, or `None` if the thread has ended or there are more processors
        /// than the set has room for.
        pub(super) fn of(thread: i32) -> Option<Self> {
            // SAFETY: the type is an array of integers.
            let mut set = unsafe { std::mem::zeroed() };
            let size = size_of::<libc::cpu_set_t>();
            // SAFETY: the kernel writes at most `size` bytes to the pointer.
            let known = unsafe { libc::sched_getaffinity(thread, size, &raw mut set) } == 0;
            known.then_some(Self(set))
        }

        pub(super) fn without(mut self, processors: impl Iterator<Item = u32>) -> Self {
            for processor in processors.map(|processor| processor as usize) {
                if processor < libc::CPU_SETSIZE as usize {
                    // SAFETY: the set has a bit for the processor.
                    unsafe { libc::CPU_CLR(processor, &mut self.0) };
                }
            }
            self
        }

        pub(super) fn is_empty(&self) -> bool {
            // SAFETY: the function only reads the set.
            unsafe { libc::CPU_COUNT(&self.0) == 0 }
        }

        /// Restricts a thread to these processors. Returns `false` if the kernel refuses it.
        pub(super) fn set(&self, thread: i32) -> bool {
            let size = size_of::<libc::cpu_set_t>();
            // SAFETY: the kernel reads `size` bytes from the pointer.
            unsafe { libc::sched_setaffinity(thread, size, &raw const self.0) == 0 }
        }
    }

    pub(super) fn current_processor() -> Option<u32> {
        // SAFETY: the call takes no arguments and accesses no memory of the program.
        u32::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
}

#[cfg(not(all(target_os = "linux", not(any(purlin_cores, shuttle, miri)))))]
mod kernel {
    pub(super) enum ProcessorSet {}

    impl ProcessorSet {
        pub(super) fn of(_: i32) -> Option<Self> {
            None
        }

        pub(super) fn without(self, _: impl Iterator<Item = u32>) -> Self {
            match self {}
        }

        pub(super) fn is_empty(&self) -> bool {
            match *self {}
        }

        pub(super) fn set(&self, _: i32) -> bool {
            match *self {}
        }
    }

    pub(super) fn current_processor() -> Option<u32> {
        None
    }
}

#[cfg(all(test, target_os = "linux", not(any(purlin_cores, shuttle, miri))))]
mod tests {
    use super::ThreadId;
    use super::kernel::ProcessorSet;

    /// Returns the processors that the calling thread may use.
    fn usable() -> Vec<u32> {
        let set = ProcessorSet::of(ThreadId::current().number()).expect("it lives");
        let usable = |one: &u32| !set.without((0..1024).filter(|other| other != one)).is_empty();
        (0..1024).filter(usable).collect()
    }

    #[test]
    fn a_thread_is_kept_off_processors_during_a_wake_up_only() {
        let before = usable();
        let (first, others) = before.split_first().expect("it runs");
        let mut during = Vec::new();
        ThreadId::current().wake_apart([*first, 4000].into_iter(), || during = usable());
        assert_eq!(during, if others.is_empty() { &before } else { others });
        assert_eq!(usable(), before);
        if let Some(processor) = ThreadId::current_processor() {
            assert!(before.contains(&processor));
        }
    }

    #[test]
    fn a_thread_that_may_use_no_other_processor_is_woken_all_the_same() {
        let before = usable();
        let mut during = Vec::new();
        ThreadId::current().wake_apart(before.iter().copied(), || during = usable());
        assert_eq!((&during, usable()), (&before, before.clone()));
    }

    #[test]
    fn an_unknown_thread_is_woken_all_the_same() {
        for number in [0, i32::MAX] {
            let mut woken = 0;
            ThreadId::from_number(number).wake_apart(std::iter::once(0), || woken += 1);
            assert_eq!(woken, 1);
        }
    }
}
