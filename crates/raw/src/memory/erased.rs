//! Type-erased function pointer.
//!
//! The private state of a process has one type, whatever its message type; a function that makes a
//! message of that type does not.
//! WHY not `&dyn Any`: `type_id` is an indirect call, which took 10 of the 120 ns in which a
//! process was spawned and monitored and its exit received.
//!
//! COST: three words, and a comparison of two of them.

use std::any::TypeId;
use std::mem::{MaybeUninit, transmute_copy};

/// Function pointer of an erased type.
#[derive(Debug, Clone, Copy)]
pub struct Erased {
    of: TypeId,
    pointer: MaybeUninit<fn()>,
}

impl Erased {
    /// Erases the type of a function pointer.
    pub fn new<F: Copy + Send + Sync + 'static>(function: F) -> Self {
        const { assert!(size_of::<F>() == size_of::<fn()>() && align_of::<F>() == align_of::<fn()>()) };
        // SAFETY: the two types have the same size, and every bit pattern is a valid `MaybeUninit`.
        Self { of: TypeId::of::<F>(), pointer: unsafe { transmute_copy(&function) } }
    }

    /// Returns the function pointer if its type is `F`.
    pub fn get<F: Copy + Send + Sync + 'static>(&self) -> Option<F> {
        // SAFETY: the pointer was made from an `F`, which is `Copy` and usable on any thread.
        (self.of == TypeId::of::<F>()).then(|| unsafe { transmute_copy(&self.pointer) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn function_pointer_is_returned_only_as_its_own_type() {
        let erased = Erased::new::<fn(u8) -> u8>(|n| n + 1);
        assert_eq!(erased.get::<fn(u8) -> u8>().map(|next| next(1)), Some(2));
        assert!(erased.get::<fn(i8) -> i8>().is_none());
    }
}
