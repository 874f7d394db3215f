//! Improper lists.
//!
//! INVARIANT: there is at least one element, and the tail is not a list. So `[1 | [2 | 3]]` and
//! `[1, 2 | 3]` are equal, as in Erlang.

use crate::Term;

/// An improper list `[a, b | tail]`, created by [`Term::list_with_tail`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImproperList {
    elements: Vec<Term>,
    tail: Term,
}

impl ImproperList {
    /// Returns the elements before the tail, at least one.
    pub fn elements(&self) -> &[Term] {
        &self.elements
    }

    /// Returns the tail.
    pub fn tail(&self) -> &Term {
        &self.tail
    }

    /// Returns the elements and the tail.
    pub fn into_parts(self) -> (Vec<Term>, Term) {
        (self.elements, self.tail)
    }
}

impl Term {
    /// Creates `[elements | tail]`: a proper list if the tail is a list, the tail alone if there
    /// are no elements.
    pub fn list_with_tail(mut elements: Vec<Self>, tail: Self) -> Self {
        if elements.is_empty() {
            return tail;
        }
        match tail {
            Self::List(more) => {
                elements.extend(more);
                Self::List(elements)
            }
            Self::ImproperList(more) => {
                let (more, tail) = more.into_parts();
                elements.extend(more);
                Self::ImproperList(Box::new(ImproperList { elements, tail }))
            }
            Self::Deep(deep) if matches!(deep.get(), Self::List(_) | Self::ImproperList(_)) => {
                Self::list_with_tail(elements, deep.into_contents())
            }
            tail => Self::ImproperList(Box::new(ImproperList { elements, tail })),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Term;

    #[test]
    fn nested_tails_are_normalized() {
        let list = |elements: &[i64], tail| {
            Term::list_with_tail(elements.iter().map(|n| Term::Integer(*n)).collect(), tail)
        };
        assert_eq!(list(&[1], list(&[2, 3], Term::NIL)), list(&[1, 2, 3], Term::NIL));
        assert_eq!(list(&[1], list(&[2], Term::Integer(3))), list(&[1, 2], Term::Integer(3)));
        assert_eq!(list(&[], Term::Integer(3)), Term::Integer(3));
        assert!(matches!(list(&[1], Term::NIL), Term::List(_)));
    }
}
