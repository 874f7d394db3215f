//! One of two values in a block of its own, from the memory that this thread freed.
//!
//! What a `Box` is, for what comes and goes with processes: a small value as a rule, a large one where
//! need be, behind one word. It may be dropped on another thread.
//!
//! COST: as `pool`: a few plain reads and writes, as a rule no call of the allocator.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::pool;

/// The bit of the address that says which of the two it is.
const RIGHT: usize = 1;

/// One of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The one.
    Left(A),
    /// The other.
    Right(B),
}

/// An owned value, an `A` or a `B`, in a block from the pool.
pub struct Pooled<A, B> {
    /// The block, with [`RIGHT`] in its address if it holds a `B`.
    place: NonNull<u8>,
    values: PhantomData<(A, B)>,
}

// SAFETY: it owns its value, as a `Box` does.
unsafe impl<A: Send, B: Send> Send for Pooled<A, B> {}
// SAFETY: as above.
unsafe impl<A: Sync, B: Sync> Sync for Pooled<A, B> {}

/// # Panics
/// At compile time, if the address of such a value has no bit to spare.
const fn has_a_bit<T>() {
    assert!(align_of::<T>() > RIGHT);
}

impl<A, B> Pooled<A, B> {
    /// A block with an `A`.
    #[inline]
    pub fn left(value: A) -> Self {
        const { has_a_bit::<A>() };
        let block = pool::take::<A>();
        // SAFETY: the block was taken for an `A`, and nobody else knows it.
        unsafe { block.write(value) };
        Self { place: block.cast(), values: PhantomData }
    }

    /// A block with a `B`.
    #[inline]
    pub fn right(value: B) -> Self {
        const { has_a_bit::<B>() };
        let block = pool::take::<B>();
        // SAFETY: the block was taken for a `B`, and nobody else knows it.
        unsafe { block.write(value) };
        let place = block.cast::<u8>().map_addr(|address| address | RIGHT);
        Self { place, values: PhantomData }
    }

    /// The block of the value, if it is of that side.
    #[inline]
    fn block(&self) -> Either<NonNull<A>, NonNull<B>> {
        match self.place.addr().get() & RIGHT {
            0 => Either::Left(self.place.cast()),
            _ => {
                let block = self.place.as_ptr().map_addr(|address| address & !RIGHT);
                // SAFETY: it is the address of a block, which is not null.
                Either::Right(unsafe { NonNull::new_unchecked(block) }.cast())
            }
        }
    }

    /// Looks at the value.
    #[inline]
    pub fn get(&self) -> Either<&A, &B> {
        match self.block() {
            // SAFETY: the block holds a value as long as this owns it.
            Either::Left(block) => Either::Left(unsafe { block.as_ref() }),
            // SAFETY: as above.
            Either::Right(block) => Either::Right(unsafe { block.as_ref() }),
        }
    }

    /// The value, to be changed.
    #[inline]
    pub fn get_mut(&mut self) -> Either<&mut A, &mut B> {
        match self.block() {
            // SAFETY: the block holds a value as long as this owns it, and there is no other owner.
            Either::Left(mut block) => Either::Left(unsafe { block.as_mut() }),
            // SAFETY: as above.
            Either::Right(mut block) => Either::Right(unsafe { block.as_mut() }),
        }
    }

    /// Takes the value out and frees the block.
    #[inline]
    pub fn into_inner(self) -> Either<A, B> {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the value is moved out, and the block, which was taken for it, is not used any
        // more, because nothing is dropped here.
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
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is ours and is not used any more; the block was taken for it.
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

    // issue 4: what keeps links and monitors is memory like any other
    #[test]
    fn a_value_is_kept_changed_and_dropped_once() {
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
