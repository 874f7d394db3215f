//! Thread-locals of simulated threads, with the functions of `std`'s.
//!
//! Outside of a simulation a value belongs to the OS thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::run::{self, Local};

thread_local! {
    static OUTSIDE: RefCell<Vec<Local>> = const { RefCell::new(Vec::new()) };
}

/// Key of a thread-local, made by [`thread_local!`](crate::thread_local).
#[derive(Debug)]
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
}

/// Error of [`LocalKey::try_with`]. Never returned: values live until their thread has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

/// Declares thread-locals, as `std::thread_local!` with `const` blocks does.
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $type:ty = const $init:block;)*) => {
        $($(#[$attr])* $vis static $name: $crate::LocalKey<$type> = {
            fn init() -> $type $init
            $crate::LocalKey::new(init)
        };)*
    };
}

/// Applies `f` to the thread-locals of this thread.
fn locals<R>(f: impl FnOnce(&mut Vec<Local>) -> R) -> R {
    let mut f = Some(f);
    let inside = run::with(|run| {
        let current = run.current;
        f.take().map(|f| f(&mut run.threads[current].locals))
    });
    match (inside.flatten(), f) {
        (Some(result), _) => result,
        (None, Some(f)) => OUTSIDE.with_borrow_mut(f),
        (None, None) => unreachable!("the closure was called and returned nothing"),
    }
}

/// Drops the thread-locals of this thread, the latest first. A destructor may use earlier ones.
pub(crate) fn drop_all() {
    while let Some(last) = locals(Vec::pop) {
        drop(last);
    }
}

impl<T: 'static> LocalKey<T> {
    /// Creates a key; [`thread_local!`](crate::thread_local) calls it.
    pub const fn new(init: fn() -> T) -> Self {
        Self { init }
    }

    fn value(&'static self) -> Rc<T> {
        let key = std::ptr::from_ref(self).addr();
        let found = locals(|locals| {
            let found = locals.iter().find(|(other, _)| *other == key);
            found.map(|(_, value)| Rc::clone(value))
        });
        let value = found.unwrap_or_else(|| {
            let value: Rc<dyn std::any::Any> = Rc::new((self.init)());
            locals(|locals| locals.push((key, Rc::clone(&value))));
            value
        });
        value.downcast().expect("a key has values of one type")
    }

    /// Applies `f` to the value of this thread.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.value())
    }

    /// Applies `f` to the value of this thread.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        Ok(self.with(f))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// Returns a copy of the value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }
}
