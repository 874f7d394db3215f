//! The heap of the C library.
//!
//! Any thread may call. Touches nothing of purlin's.

/// Has the C library give the pages that are free in its heaps back to the operating system.
///
/// Does nothing where the C library is not glibc. What a program's own allocator keeps is not
/// touched.
///
/// COST: 100 µs or so for each megabyte given back; who allocates from the same heap meanwhile
/// waits.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: the call may be made by any thread at any time; it moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
