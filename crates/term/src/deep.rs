//! Parts of a term at multiples of 1024 levels, which bound every recursion over a decoded term.
//!
//! INVARIANT: the decoder wraps each compound part at these levels in [`Term::Deep`], and the
//! contents of a [`Deep`] are not one themselves. So dropping, cloning and `==`, which recurse,
//! stop there: the contents are dropped without recursion, shared by clones, and compared by
//! [`Term::compare_exactly`].

use crate::{Deep, Term};

/// Drops the contents with an explicit stack. COST: 24 bytes per level.
impl Drop for Deep {
    fn drop(&mut self) {
        let mut stack = Vec::from_iter(self.take().and_then(parts));
        while let Some(terms) = stack.last_mut() {
            match terms.pop() {
                Some(term) => stack.extend(parts(term)),
                None => _ = stack.pop(),
            }
        }
    }
}

/// Takes a compound term apart; drops another one. The contents of a [`Deep`] remain if a clone shares them.
fn parts(term: Term) -> Option<Vec<Term>> {
    match term {
        Term::Tuple(parts) | Term::List(parts) => Some(parts),
        Term::ImproperList(list) => {
            let (mut parts, tail) = list.into_parts();
            parts.push(tail);
            Some(parts)
        }
        Term::Map(map) => Some(map.into_iter().flat_map(<[Term; 2]>::from).collect()),
        Term::NativeRecord(record) => {
            Some(record.fields.into_iter().map(|(_, value)| value).collect())
        }
        Term::Fun(fun) => Some(fun.free),
        Term::Deep(mut deep) => deep.take().and_then(parts),
        _ => None,
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
}
