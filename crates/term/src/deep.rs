//! Parts of a term at multiples of 1024 levels, which bound every recursion over a decoded term.
//!
//! INVARIANT: the decoder wraps each compound part at these levels in [`Term::Deep`], and the
//! contents of a [`Deep`] are not one themselves. So dropping, cloning and `==`, which recurse,
//! stop there: the contents are dropped without recursion, shared by clones, and compared by
//! [`Term::compare_exactly`].

use crate::{Deep, Fun, Term};

/// Drops the contents with an explicit stack.
impl Drop for Deep {
    fn drop(&mut self) {
        let mut stack = Vec::from_iter(self.take());
        while let Some(term) = stack.pop() {
            match term {
                Term::Tuple(parts) | Term::List(parts) => {
                    stack.extend(parts.into_iter().filter(Term::is_compound));
                }
                Term::ImproperList(list) => {
                    let (elements, tail) = list.into_parts();
                    stack.extend(elements.into_iter().filter(Term::is_compound));
                    stack.push(tail);
                }
                Term::Map(map) => {
                    let parts = map.into_iter().flat_map(<[Term; 2]>::from);
                    stack.extend(parts.filter(Term::is_compound));
                }
                Term::NativeRecord(record) => {
                    stack.extend(record.fields.into_iter().map(|(_, value)| value));
                }
                Term::Fun(fun) => {
                    let Fun { free, .. } = *fun;
                    stack.extend(free);
                }
                Term::Deep(mut deep) => stack.extend(deep.take()),
                _ => {}
            }
        }
    }
}

impl Term {
    /// Returns the contents of a [`Term::Deep`], or else the term itself. A function that walks through terms of any
    /// depth matches these.
    pub fn contents(&self) -> &Self {
        match self {
            Self::Deep(deep) => deep.get(),
            term => term,
        }
    }

    /// Whether the term can have parts.
    fn is_compound(&self) -> bool {
        matches!(
            self,
            Self::Tuple(_)
                | Self::List(_)
                | Self::ImproperList(_)
                | Self::Map(_)
                | Self::NativeRecord(_)
                | Self::Fun(_)
                | Self::Deep(_)
        )
    }
}
