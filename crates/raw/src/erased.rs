//! A function pointer whose type is forgotten where it is kept, and known again where it is called.
//!
//! What a process keeps is of one type, whatever its messages are; a function that makes such a
//! message is not. WHY not `&dyn Any`: it is asked for its type by an indirect call, which took
//! 10 of the 120 ns in which a process was spawned and monitored, and its end received.
//!
//! COST: three words, and a comparison of two of them.

use std::any::TypeId;
use std::mem::{MaybeUninit, transmute_copy};

/// A function pointer of some type.
#[derive(Debug, Clone, Copy)]
pub struct Erased {
    of: TypeId,
    pointer: MaybeUninit<fn()>,
}

impl Erased {
    /// Forgets the type of a function pointer.
    #[inline]
    pub fn new<F: Copy + Send + Sync + 'static>(function: F) -> Self {
        const { assert!(size_of::<F>() == size_of::<fn()>() && align_of::<F>() == align_of::<fn()>()) };
        // SAFETY: the two have one size, and no value of what may be uninitialised is invalid.
        Self { of: TypeId::of::<F>(), pointer: unsafe { transmute_copy(&function) } }
    }

    /// The function pointer, if it is of this type.
    #[inline]
    pub fn get<F: Copy + Send + Sync + 'static>(&self) -> Option<F> {
        // SAFETY: it was made of an `F`, which may be copied and used on any thread.
        (self.of == TypeId::of::<F>()).then(|| unsafe { transmute_copy(&self.pointer) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_had_back_as_what_it_is_and_as_nothing_else() {
        let erased = Erased::new::<fn(u8) -> u8>(|n| n + 1);
        assert_eq!(erased.get::<fn(u8) -> u8>().map(|next| next(1)), Some(2));
        assert!(erased.get::<fn(i8) -> i8>().is_none());
    }
}
