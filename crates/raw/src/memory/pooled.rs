//! Owned value of one of two types in a pooled block.
//!
//! A `Box` for state that is created and freed with processes: usually a small value, sometimes a
//! large one, behind one word. May be dropped on another thread.
//!
//! COST: as for `pool`: a few plain reads and writes, usually no call of the allocator.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::memory::pool;

/// Address bit that says which of the two types the block holds.
const RIGHT: usize = 1;

/// Value of one of two types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Either<A, B> {
    /// A value of the first type.
    Left(A),
    /// A value of the second type.
    Right(B),
}

/// Owned `A` or `B` in a pooled block.
pub struct Pooled<A, B> {
    /// The block; [`RIGHT`] is set in the address if it holds a `B`.
    place: NonNull<u8>,
    values: PhantomData<(A, B)>,
}

// SAFETY: a `Pooled` owns its value, as a `Box` does.
unsafe impl<A: Send, B: Send> Send for Pooled<A, B> {}
// SAFETY: as above.
unsafe impl<A: Sync, B: Sync> Sync for Pooled<A, B> {}

/// # Panics
/// Fails to compile if the alignment of `T` leaves no address bit free.
const fn has_a_bit<T>() {
    assert!(align_of::<T>() > RIGHT);
}

impl<A, B> Pooled<A, B> {
    /// Allocates a block with an `A`.
    pub fn left(value: A) -> Self {
        const { has_a_bit::<A>() };
        let block = pool::take::<A>();
        // SAFETY: the block was taken for an `A`, and no other reference to it exists.
        unsafe { block.write(value) };
        Self { place: block.cast(), values: PhantomData }
    }

    /// Allocates a block with a `B`.
    pub fn right(value: B) -> Self {
        const { has_a_bit::<B>() };
        let block = pool::take::<B>();
        // SAFETY: the block was taken for a `B`, and no other reference to it exists.
        unsafe { block.write(value) };
        let place = block.cast::<u8>().map_addr(|address| address | RIGHT);
        Self { place, values: PhantomData }
    }

    /// Returns the block, typed by the value it holds.
    fn block(&self) -> Either<NonNull<A>, NonNull<B>> {
        match self.place.addr().get() & RIGHT {
            0 => Either::Left(self.place.cast()),
            _ => {
                let block = self.place.as_ptr().map_addr(|address| address & !RIGHT);
                // SAFETY: without the tag it is the address of a block, which is not null.
                Either::Right(unsafe { NonNull::new_unchecked(block) }.cast())
            }
        }
    }

    /// Returns a reference to the value.
    pub fn get(&self) -> Either<&A, &B> {
        match self.block() {
            // SAFETY: the block holds a value as long as `self` owns it.
            Either::Left(block) => Either::Left(unsafe { block.as_ref() }),
            // SAFETY: as above.
            Either::Right(block) => Either::Right(unsafe { block.as_ref() }),
        }
    }

    /// Returns a mutable reference to the value.
    pub fn get_mut(&mut self) -> Either<&mut A, &mut B> {
        match self.block() {
            // SAFETY: the block holds a value as long as `self` owns it, and `&mut self` is
            // exclusive.
            Either::Left(mut block) => Either::Left(unsafe { block.as_mut() }),
            // SAFETY: as above.
            Either::Right(mut block) => Either::Right(unsafe { block.as_mut() }),
        }
    }

    /// Moves the value out and frees the block.
    pub fn into_inner(self) -> Either<A, B> {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the value is moved out and the block, which was taken for its type, is freed
        // once, because `ManuallyDrop` prevents the destructor.
        unsafe {
            match this.block() {
                Either::Left(block) => {
                    let value = block.read();
                    pool::free(block);
                    Either::Left(value)
                }
                Either::Right(block) => {
                    let value = block.read();
                    pool::free(block);
                    Either::Right(value)
                }
            }
        }
    }
}

impl<A, B> Drop for Pooled<A, B> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the value, which is not used again; the block was taken for its type.
        unsafe {
            match self.block() {
                Either::Left(block) => {
                    block.drop_in_place();
                    pool::free(block);
                }
                Either::Right(block) => {
                    block.drop_in_place();
                    pool::free(block);
                }
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    type Kept = Pooled<Arc<()>, [Option<Arc<()>>; 9]>;

    // The memory of links and monitors is pooled like any other
    #[test]
    fn value_is_stored_changed_and_dropped_once() {
        let counted = Arc::new(());
        let small = Kept::left(Arc::clone(&counted));
        let mut large = Kept::right([const { None }; 9]);
        let Either::Right(places) = large.get_mut() else { panic!("it is the large one") };
        places[8] = Some(Arc::clone(&counted));
        assert!(matches!(small.get(), Either::Left(one) if Arc::ptr_eq(one, &counted)));
        assert_eq!(Arc::strong_count(&counted), 3);
        std::thread::spawn(move || drop(large)).join().expect("it only drops");
        assert_eq!(Arc::strong_count(&counted), 2);
        let Either::Left(taken) = small.into_inner() else { panic!("it is the small one") };
        drop(taken);
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}
