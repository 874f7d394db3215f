//! Code of a process: its start, which is the [`Body`](crate::Body) that the spawn stored, then the future that
//! the first turn makes of it.
//!
//! Both lie at the same place in the cell, and a byte of its base says which one is there: an `enum`
//! would take a whole word for that. Only the running turn accesses them.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::sync::UnsafeCell;

/// What the place of the code holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    /// The start.
    /// WHY zero: a new cell begins with it, and the compiler clears its neighbours in the same store.
    Start,
    /// The future.
    Running,
    /// Nothing, or the exit status.
    Over,
}

/// Place of the code, and after the end of the exit status.
#[repr(C)]
pub(crate) union Contents<B, F, S> {
    pub(crate) start: ManuallyDrop<UnsafeCell<B>>,
    future: ManuallyDrop<UnsafeCell<F>>,
    exit_status: ManuallyDrop<UnsafeCell<S>>,
}

/// Access to the code of a process during its turn.
///
/// INVARIANT: the place holds what the stage says, and no other reference to either exists. A
/// future at the place is not moved.
pub struct Code<'t, B, F = Infallible> {
    place: NonNull<()>,
    stage: &'t UnsafeCell<Stage>,
    types: PhantomData<(&'t mut B, &'t mut F)>,
}

/// Empty place of a future, from [`Code::begin`].
#[must_use]
pub struct Vacancy<'c, 't, B, F>(&'c mut Code<'t, B, F>);

impl<B, F> std::fmt::Debug for Code<'_, B, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Code").field(&self.stage()).finish()
    }
}

impl<B, F> std::fmt::Debug for Vacancy<'_, '_, B, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vacancy")
    }
}

impl<'t, B, F> Code<'t, B, F> {
    /// # Safety
    /// `place` is that of the [`Contents`] of a cell with these types, and `stage` is the stage of
    /// the same cell. This thread is in the process's turn, which outlives `'t`. No other `Code` of
    /// the cell is used during `'t`.
    #[inline(always)]
    pub(crate) unsafe fn new(place: NonNull<()>, stage: &'t UnsafeCell<Stage>) -> Self {
        Self { place, stage, types: PhantomData }
    }

    #[inline(always)]
    fn stage(&self) -> Stage {
        // SAFETY: only the running turn accesses the stage.
        self.stage.with(|stage| unsafe { *stage })
    }

    #[inline(always)]
    fn set_stage(&mut self, to: Stage) {
        // SAFETY: as above.
        self.stage.with_mut(|stage| unsafe { *stage = to });
    }

    /// Returns the start, unless it has been taken.
    #[inline(always)]
    pub fn start(&mut self) -> Option<&mut B> {
        if self.stage() != Stage::Start {
            return None;
        }
        // SAFETY: by the invariant. All fields of a `Contents` lie at its beginning.
        let start = unsafe { self.place.cast::<UnsafeCell<B>>().as_ref() };
        // SAFETY: by the invariant; the reference borrows `self`.
        Some(start.with_mut(|start| unsafe { &mut *start }))
    }

    /// Takes the start, unless it has been taken. Returns it and the place of the future.
    #[inline(always)]
    pub fn begin(&mut self) -> Option<(B, Vacancy<'_, 't, B, F>)> {
        let start: *const B = self.start()?;
        self.set_stage(Stage::Over);
        // SAFETY: the stage says from now on that the place is empty.
        Some((unsafe { start.read() }, Vacancy(self)))
    }

    /// Returns the future, if there is one.
    #[inline(always)]
    pub fn future(&mut self) -> Option<Pin<&mut F>> {
        if self.stage() != Stage::Running {
            return None;
        }
        // SAFETY: as in `start`.
        let future = unsafe { self.place.cast::<UnsafeCell<F>>().as_ref() };
        // SAFETY: by the invariant. The cell never moves, and `clear` drops the future in place.
        Some(future.with_mut(|future| unsafe { Pin::new_unchecked(&mut *future) }))
    }

    /// Drops the start or the future. If its destructor unwinds, it counts as dropped.
    #[inline(always)]
    pub fn clear(&mut self) {
        let stage = self.stage();
        self.set_stage(Stage::Over);
        // SAFETY: as in `start`; the stage says from now on that the place is empty.
        unsafe {
            match stage {
                Stage::Start => self
                    .place
                    .cast::<UnsafeCell<B>>()
                    .as_ref()
                    .with_mut(|start| start.drop_in_place()),
                Stage::Running => self
                    .place
                    .cast::<UnsafeCell<F>>()
                    .as_ref()
                    .with_mut(|future| future.drop_in_place()),
                Stage::Over => {}
            }
        }
    }
}

impl<B, F> Vacancy<'_, '_, B, F> {
    /// Stores the future.
    #[inline(always)]
    pub fn fill(self, future: F) {
        // SAFETY: the place is empty, because the `Code` is borrowed since the start was taken.
        unsafe { self.0.place.cast::<UnsafeCell<F>>().write(UnsafeCell::new(future)) };
        self.0.set_stage(Stage::Running);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
