//! Atomics with the functions of `std::sync::atomic`.
//!
//! Each operation is charged and then performed on an atomic of `std`; no other thread runs in
//! between. Orderings cost what they cost on x86-64: a load, and a store that is not sequentially
//! consistent, are plain accesses; every other operation is a read-modify-write.

pub use std::sync::atomic::Ordering;

use std::sync::atomic as real;

use crate::coherence::Access;
use crate::run;

/// Fence: costs a read-modify-write if it is sequentially consistent, else nothing.
pub fn fence(order: Ordering) {
    if order == Ordering::SeqCst {
        run::full_fence();
    }
    real::fence(order);
}

fn charge<T>(atomic: &T, kind: Access) {
    run::access(std::ptr::from_ref(atomic).addr(), kind);
}

fn store_kind(order: Ordering) -> Access {
    if order == Ordering::SeqCst { Access::Rmw } else { Access::Store }
}

macro_rules! atomic {
    ($(#[$attr:meta])* $name:ident $([$param:ident])?, $value:ty) => {
        $(#[$attr])*
        #[repr(transparent)]
        pub struct $name $(<$param>)? (real::$name $(<$param>)?);

        impl $(<$param>)? $name $(<$param>)? {
            /// Creates an atomic.
            pub const fn new(value: $value) -> Self {
                Self(real::$name::new(value))
            }

            /// Loads the value.
            pub fn load(&self, order: Ordering) -> $value {
                charge(self, Access::Load);
                self.0.load(order)
            }

            /// Stores a value.
            pub fn store(&self, value: $value, order: Ordering) {
                charge(self, store_kind(order));
                self.0.store(value, order);
            }

            /// Stores a value and returns the previous one.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                charge(self, Access::Rmw);
                self.0.swap(value, order)
            }

            /// Stores a value if the present one is `current`.
            ///
            /// # Errors
            /// The present value, if it is another one.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                charge(self, Access::Rmw);
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As [`Self::compare_exchange`]: never fails spuriously.
            ///
            /// # Errors
            /// The present value, if it is another one.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Updates the value with `f` until it succeeds or `f` returns `None`.
            ///
            /// # Errors
            /// The present value, if `f` returned `None`.
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut now = self.load(failure);
                while let Some(next) = f(now) {
                    match self.compare_exchange(now, next, success, failure) {
                        Ok(before) => return Ok(before),
                        Err(other) => now = other,
                    }
                }
                Err(now)
            }

            /// Returns the value of an atomic that no other thread can access.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// Returns the value of an atomic that no other thread can access.
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }
        }

        impl $(<$param>)? std::fmt::Debug for $name $(<$param>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! operations {
    ($name:ident, $value:ty, $($operation:ident)*) => {
        impl $name {
            $(
                /// Applies the operation and returns the previous value.
                pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                    charge(self, Access::Rmw);
                    self.0.$operation(value, order)
                }
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self(real::$name::default())
            }
        }
    };
}

atomic!(
    /// Atomic `bool`.
    AtomicBool, bool
);
atomic!(
    /// Atomic `u8`.
    AtomicU8, u8
);
atomic!(
    /// Atomic `i32`.
    AtomicI32, i32
);
atomic!(
    /// Atomic `u32`.
    AtomicU32, u32
);
atomic!(
    /// Atomic `u64`.
    AtomicU64, u64
);
atomic!(
    /// Atomic `usize`.
    AtomicUsize, usize
);
atomic!(
    /// Atomic pointer.
    AtomicPtr[T], *mut T
);

operations!(AtomicBool, bool, fetch_and fetch_or fetch_xor);
operations!(AtomicU8, u8, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
operations!(AtomicI32, i32, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
operations!(AtomicU32, u32, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
operations!(AtomicU64, u64, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
operations!(AtomicUsize, usize, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
