//! `UnsafeCell` with the closure interface of loom's.

use crate::coherence::Access;
use crate::run;

/// Cell whose accesses are charged as loads and stores of the line of its first byte.
#[derive(Debug)]
#[repr(transparent)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Creates a cell.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Loads the line and passes a pointer to the value.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        run::access(self.0.get().addr(), Access::Load);
        f(self.0.get())
    }

    /// Stores to the line and passes a pointer to the value.
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        run::access(self.0.get().addr(), Access::Buffered);
        f(self.0.get())
    }
}
