//! `==` and hashing of terms.
//!
//! Both treat a [`Term::Deep`] as its contents. `==` recurses to the next one; hashing has an
//! explicit stack.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::slice::from_ref;

use crate::order::Parts;
use crate::{Fun, NativeRecord, Term};

macro_rules! equal {
    ($a:ident, $b:ident: $($variant:ident)*) => {
        match ($a, $b) {
            $((Self::$variant(a), Self::$variant(b)) => a == b,)*
            (Self::Deep(_), _) | (_, Self::Deep(_)) => $a.compare_exactly($b).is_eq(),
            _ => false,
        }
    };
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        equal!(self, other: Integer Atom Tuple List Binary Float BigInteger BitString ImproperList
            Map Pid Port Reference Fun Export NativeRecord Local)
    }
}

impl Eq for Term {}

impl Hash for Term {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (mut stack, mut term) = (Vec::new(), self);
        loop {
            one(term.contents(), state, &mut stack);
            term = loop {
                let Some(parts) = stack.last_mut() else { return };
                match parts.next() {
                    Some(part) => break part,
                    None => stack.pop(),
                };
            };
        }
    }
}

/// Hashes a term without its parts, which are pushed to the stack in reverse order.
fn one<'t, H: Hasher>(term: &'t Term, state: &mut H, stack: &mut Vec<Parts<'t>>) {
    discriminant(term).hash(state);
    match term {
        Term::Integer(value) => value.hash(state),
        Term::BigInteger(value) => value.hash(state),
        Term::Float(value) => value.hash(state),
        Term::Atom(atom) => atom.hash(state),
        Term::Binary(bytes) | Term::Local(bytes) => bytes.hash(state),
        Term::BitString(bits) => bits.hash(state),
        Term::Pid(pid) => pid.hash(state),
        Term::Port(port) => port.hash(state),
        Term::Reference(reference) => reference.hash(state),
        Term::Export(export) => export.hash(state),
        Term::Tuple(parts) | Term::List(parts) => {
            parts.len().hash(state);
            stack.push(Parts::Terms(parts.iter()));
        }
        Term::ImproperList(list) => {
            list.elements().len().hash(state);
            stack.push(Parts::Terms(from_ref(list.tail()).iter()));
            stack.push(Parts::Terms(list.elements().iter()));
        }
        Term::Map(map) => {
            map.len().hash(state);
            stack.push(Parts::Values(map.pairs().iter()));
            stack.push(Parts::Keys(map.pairs().iter()));
        }
        Term::NativeRecord(record) => {
            let NativeRecord { module, name, exported, fields } = &**record;
            (module, name, exported, fields.len()).hash(state);
            fields.iter().for_each(|(field, _)| field.hash(state));
            stack.push(Parts::Fields(fields.iter()));
        }
        Term::Fun(fun) => {
            let Fun { module, arity, uniq, index, old_index, old_uniq, pid, free } = &**fun;
            (module, arity, uniq, index, old_index, old_uniq, pid, free.len()).hash(state);
            stack.push(Parts::Terms(free.iter()));
        }
        // Contents are not one themselves.
        Term::Deep(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    use crate::{Atom, Deep, NativeRecord, Term};

    fn hash(term: &Term) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(term)
    }

    #[test]
    fn a_deep_part_equals_its_contents_in_every_place() {
        let record = |part| NativeRecord {
            module: Atom::from_static("m"),
            name: Atom::from_static("n"),
            exported: true,
            fields: vec![(Atom::from_static("f"), part)],
        };
        let places: [fn(Term) -> Term; 6] = [
            |part| part,
            |part| Term::tuple([Term::from(1), part]),
            |part| Term::list([part, Term::from(1)]),
            |part| Term::list_with_tail(vec![Term::from(1)], part),
            |part| Term::map([(part.clone(), part)]),
            |part| Term::tuple([Term::tuple([part])]),
        ];
        let parts = ["{1,[2]}", "[1,2,{}]", "#{a => [1]}", "[1|x]", "{}"];
        for text in parts {
            let part: Term = text.parse().unwrap();
            let deep = || Term::Deep(Deep::new(part.clone()));
            for place in places {
                let (deep, plain) = (place(deep()), place(part.clone()));
                assert_eq!(deep, plain);
                assert_eq!(plain, deep);
                assert_eq!(deep, deep.clone());
                assert_ne!(deep, place(Term::from("other")));
                assert_eq!(hash(&deep), hash(&plain));
                assert_eq!(deep.phash2(), plain.phash2());
                assert!(deep.compare(&plain).is_eq());
                assert_eq!(deep.encode(), plain.encode());
                assert_eq!(deep.to_string(), plain.to_string());
                assert_eq!(deep.as_tuple(), plain.as_tuple());
            }
            let [deep, plain] = [deep(), part.clone()].map(|part| Term::from(record(part)));
            assert_eq!((deep.encode(), hash(&deep)), (plain.encode(), hash(&plain)));
            assert_eq!(deep, plain);
        }
    }

    #[test]
    fn terms_that_differ_have_different_hashes() {
        let texts = ["1", "1.0", "a", "<<1>>", "[]", "{}", "[1]", "{1}", "[1|2]", "[[1],2]"];
        let more = ["[[1,2]]", "[1,[2]]", "#{1 => 2}", "#{2 => 1}", "#{}", "{{1},2}", "{{1,2}}"];
        let terms = texts.iter().chain(&more).map(|text| text.parse::<Term>().unwrap());
        let mut hashes: Vec<_> = terms.map(|term| hash(&term)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), texts.len() + more.len());
    }
}
