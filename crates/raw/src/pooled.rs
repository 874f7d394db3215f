//! A value in a block of its own, from the memory that this thread freed.
//!
//! What a `Box` is, for what comes and goes with processes. It may be dropped on another thread.
//!
//! COST: as `pool`: a few plain reads and writes, as a rule no call of the allocator.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::pool;

/// An owned value in a block from the pool.
#[derive(Debug)]
pub struct Pooled<T>(NonNull<T>);

// SAFETY: it owns its value, as a `Box` does.
unsafe impl<T: Send> Send for Pooled<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Pooled<T> {}

impl<T: Default> Default for Pooled<T> {
    #[inline]
    fn default() -> Self {
        let block = pool::take::<T>();
        // SAFETY: the block was taken for a `T`, and nobody else knows it.
        unsafe { block.write(T::default()) };
        Self(block)
    }
}

impl<T> Deref for Pooled<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the block holds a value as long as this owns it.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for Pooled<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and there is no other owner.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for Pooled<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is ours and is not used any more; the block was taken for a `T`.
        unsafe {
            self.0.drop_in_place();
            pool::free(self.0);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // issue 4: what keeps links and monitors is memory like any other
    #[test]
    fn a_value_is_kept_changed_and_dropped_once() {
        let counted = std::sync::Arc::new(());
        let mut pooled = Pooled::<Option<std::sync::Arc<()>>>::default();
        *pooled = Some(std::sync::Arc::clone(&counted));
        assert_eq!(std::sync::Arc::strong_count(&counted), 2);
        let moved = std::thread::spawn(move || drop(pooled));
        moved.join().expect("it only drops");
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    }
}
