use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::*;

/// Start or future that counts its drops, and may panic in them.
struct Counted {
    _count: Arc<()>,
    panics: bool,
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(!self.panics, "a destructor panics");
    }
}

/// Calls `test` with code that starts with a [`Counted`], and returns how many live after `clear`.
fn left(panics: bool, test: impl FnOnce(&mut Code<'_, Counted, Counted>, &Arc<()>)) -> usize {
    let count = Arc::new(());
    let start = Counted { _count: Arc::clone(&count), panics };
    let mut place: MaybeUninit<Contents<Counted, Counted, ()>> = MaybeUninit::uninit();
    let stage = UnsafeCell::new(Stage::Start);
    let at = NonNull::from(&mut place).cast::<()>();
    // SAFETY: the place is large enough for the start, and only `code` accesses it from now on.
    let mut code = unsafe {
        at.cast::<UnsafeCell<Counted>>().write(UnsafeCell::new(start));
        Code::<Counted, Counted>::new(at, &stage)
    };
    test(&mut code, &count);
    code.clear();
    assert!(code.start().is_none() && code.future().is_none() && code.begin().is_none());
    Arc::strong_count(&count) - 1
}

#[test]
fn start_that_is_not_taken_is_dropped_once() {
    assert_eq!(
        left(false, |code, _| assert!(code.start().is_some() && code.future().is_none())),
        0
    );
}

#[test]
fn future_takes_the_place_of_the_start_and_is_dropped_once() {
    let test = |code: &mut Code<'_, Counted, Counted>, count: &Arc<()>| {
        let Some((start, vacancy)) = code.begin() else { panic!("nothing has taken it") };
        drop(start);
        vacancy.fill(Counted { _count: Arc::clone(count), panics: false });
        assert!(code.start().is_none() && code.begin().is_none() && code.future().is_some());
        assert_eq!(Arc::strong_count(count), 2);
    };
    assert_eq!(left(false, test), 0);
}

#[test]
fn start_that_was_taken_is_not_dropped_again() {
    assert_eq!(left(false, |code, _| drop(code.begin().map(|(start, _)| start))), 0);
}

#[test]
fn content_whose_destructor_panics_is_not_dropped_again() {
    let test = |code: &mut Code<'_, Counted, Counted>, _: &Arc<()>| {
        assert!(catch_unwind(AssertUnwindSafe(|| code.clear())).is_err());
    };
    assert_eq!(left(true, test), 0);
}
