//! Erlang's term order.
//!
//! number < atom < reference < fun < port < pid < tuple < native record < map < nil < list < bit
//! string. Numbers
//! are compared in two ways: by value, as `<` and `lists:sort` do, where `1` and `1.0` are equal;
//! and exactly, as map keys are ordered, where every integer is less than any float, at any depth.
//!
//! COST: a stack of 56 bytes per level, allocated when compound terms are compared; no recursion.

use std::cmp::Ordering;
use std::iter::Zip;
use std::slice::Iter;

use num_bigint::{BigInt, Sign};

use crate::binary::compare_bits;
use crate::{Atom, Export, Float, Fun, Map, NativeRecord, Pid, Port, Reference, Term};

/// Whether an integer and a float can be equal.
#[derive(Clone, Copy)]
enum Numbers {
    ByValue,
    Exactly,
}

impl Term {
    /// Compares as Erlang's `<` and `==` do: `1` equals `1.0`, and all terms have an order.
    ///
    /// Funs of one module are ordered by their index and free variables, local encodings by their
    /// bytes.
    pub fn compare(&self, other: &Self) -> Ordering {
        compare(self, other, Numbers::ByValue)
    }

    /// Compares as map keys are ordered: every integer is less than any float. `Equal` corresponds
    /// to `==` in Rust and `=:=` in Erlang.
    pub fn compare_exactly(&self, other: &Self) -> Ordering {
        compare(self, other, Numbers::Exactly)
    }

    pub(crate) fn comes_before_atoms(&self) -> bool {
        rank(self) < ATOMS
    }
}

const ATOMS: u8 = 1;
const NIL: u8 = 9;
const LISTS: u8 = 10;
static EMPTY: Term = Term::NIL;

fn rank(term: &Term) -> u8 {
    match term.contents() {
        Term::Integer(_) | Term::BigInteger(_) | Term::Float(_) => 0,
        Term::Atom(_) => ATOMS,
        Term::Reference(_) => 2,
        Term::Fun(_) | Term::Export(_) => 3,
        Term::Port(_) => 4,
        Term::Pid(_) => 5,
        Term::Tuple(_) => 6,
        Term::NativeRecord(_) => 7,
        Term::Map(_) => 8,
        Term::List(elements) if elements.is_empty() => NIL,
        Term::List(_) | Term::ImproperList(_) => LISTS,
        Term::Binary(_) | Term::BitString(_) => 11,
        // Contents are not one themselves.
        Term::Local(_) | Term::Deep(_) => 12,
    }
}

/// Work item: compared only if all earlier items are equal.
enum Left<'t> {
    Two(&'t Term, &'t Term, Numbers),
    Parts(Zip<Parts<'t>, Parts<'t>>, Numbers),
    Decided(Ordering),
}

/// Parts of a term.
pub(crate) enum Parts<'t> {
    Terms(Iter<'t, Term>),
    Keys(Iter<'t, (Term, Term)>),
    Values(Iter<'t, (Term, Term)>),
    Fields(Iter<'t, (Atom, Term)>),
}

impl<'t> Iterator for Parts<'t> {
    type Item = &'t Term;

    fn next(&mut self) -> Option<&'t Term> {
        match self {
            Self::Terms(terms) => terms.next(),
            Self::Keys(pairs) => pairs.next().map(|(key, _)| key),
            Self::Values(pairs) => pairs.next().map(|(_, value)| value),
            Self::Fields(fields) => fields.next().map(|(_, value)| value),
        }
    }
}

impl<'t> Left<'t> {
    fn terms(a: &'t [Term], b: &'t [Term], numbers: Numbers) -> Self {
        Self::Parts(Parts::Terms(a.iter()).zip(Parts::Terms(b.iter())), numbers)
    }
}

fn compare<'t>(a: &'t Term, b: &'t Term, numbers: Numbers) -> Ordering {
    let mut left = Vec::new();
    let mut order = one(a, b, numbers, &mut left);
    while order.is_eq() {
        let (a, b, numbers) = match left.last_mut() {
            None => return Ordering::Equal,
            Some(Left::Two(a, b, numbers)) => {
                let two = (*a, *b, *numbers);
                left.pop();
                two
            }
            Some(Left::Decided(decided)) => {
                order = *decided;
                left.pop();
                continue;
            }
            Some(Left::Parts(pairs, numbers)) => {
                let Some((a, b)) = pairs.next() else {
                    left.pop();
                    continue;
                };
                (a, b, *numbers)
            }
        };
        order = one(a, b, numbers, &mut left);
    }
    order
}

/// Compares two terms without their parts, which are pushed to the stack in reverse order.
fn one<'t>(a: &'t Term, b: &'t Term, numbers: Numbers, left: &mut Vec<Left<'t>>) -> Ordering {
    let (a, b) = (a.contents(), b.contents());
    match (a, b) {
        (Term::Integer(a), Term::Integer(b)) => a.cmp(b),
        (Term::Atom(a), Term::Atom(b)) => a.cmp(b),
        (Term::Binary(a), Term::Binary(b)) => a.as_slice().cmp(b.as_slice()),
        (Term::Tuple(a), Term::Tuple(b)) => {
            left.push(Left::terms(a, b, numbers));
            a.len().cmp(&b.len())
        }
        (Term::Map(a), Term::Map(b)) => {
            let keys = |map: &'t Map| Parts::Keys(map.pairs().iter());
            let values = |map: &'t Map| Parts::Values(map.pairs().iter());
            left.push(Left::Parts(values(a).zip(values(b)), numbers));
            left.push(Left::Parts(keys(a).zip(keys(b)), Numbers::Exactly));
            a.len().cmp(&b.len())
        }
        (Term::NativeRecord(a), Term::NativeRecord(b)) => {
            let fields = |record: &'t NativeRecord| Parts::Fields(record.fields.iter());
            left.push(Left::Parts(fields(a).zip(fields(b)), numbers));
            compare_definitions(a, b)
        }
        (Term::Pid(a), Term::Pid(b)) => compare_pids(a, b),
        (Term::Port(a), Term::Port(b)) => compare_ports(a, b),
        (Term::Reference(a), Term::Reference(b)) => compare_references(a, b),
        (Term::Fun(_), Term::Export(_)) => Ordering::Less,
        (Term::Export(_), Term::Fun(_)) => Ordering::Greater,
        (Term::Export(a), Term::Export(b)) => compare_exports(a, b),
        (Term::Fun(a), Term::Fun(b)) => {
            left.push(Left::Decided(compare_rest_of_funs(a, b)));
            left.push(Left::terms(&a.free, &b.free, numbers));
            compare_funs(a, b)
        }
        (Term::Local(a), Term::Local(b)) => a.as_slice().cmp(b.as_slice()),
        _ => {
            let ranks = rank(a).cmp(&rank(b));
            if ranks.is_ne() || rank(a) == NIL {
                ranks
            } else if let (Some(a), Some(b)) = (bits(a), bits(b)) {
                compare_bits(a, b)
            } else if let (Some(a), Some(b)) = (cells(a), cells(b)) {
                begin_lists(a, b, numbers, left);
                Ordering::Equal
            } else {
                compare_numbers(a, b, numbers)
            }
        }
    }
}

/// Elements of a list and its tail.
type Cells<'t> = (&'t [Term], &'t Term);

fn cells(term: &Term) -> Option<Cells<'_>> {
    match term {
        Term::List(elements) => Some((elements, &EMPTY)),
        Term::ImproperList(list) => Some((list.elements(), list.tail())),
        _ => None,
    }
}

/// Compares element by element. Where one list ends, its tail is compared with the rest of the
/// other, which is a list.
fn begin_lists<'t>(a: Cells<'t>, b: Cells<'t>, numbers: Numbers, left: &mut Vec<Left<'t>>) {
    left.push(match a.0.len().cmp(&b.0.len()) {
        Ordering::Equal => Left::Two(a.1, b.1, numbers),
        Ordering::Less => Left::Decided(rank(a.1).cmp(&LISTS)),
        Ordering::Greater => Left::Decided(LISTS.cmp(&rank(b.1))),
    });
    left.push(Left::terms(a.0, b.0, numbers));
}

fn compare_pids(a: &Pid, b: &Pid) -> Ordering {
    let numbers = |pid: &Pid| (pid.serial, pid.id);
    numbers(a).cmp(&numbers(b)).then((&a.node, a.creation).cmp(&(&b.node, b.creation)))
}

fn compare_ports(a: &Port, b: &Port) -> Ordering {
    (&a.node, a.creation).cmp(&(&b.node, b.creation)).then(a.id.cmp(&b.id))
}

fn compare_references(a: &Reference, b: &Reference) -> Ordering {
    let nodes = (&a.node, a.creation).cmp(&(&b.node, b.creation));
    nodes.then_with(|| compare_words(a.words(), b.words()))
}

fn compare_exports(a: &Export, b: &Export) -> Ordering {
    (&a.module, &a.function, a.arity).cmp(&(&b.module, &b.function, b.arity))
}

/// Compares native records without the values of their fields.
fn compare_definitions(a: &NativeRecord, b: &NativeRecord) -> Ordering {
    let count = a.fields.len().cmp(&b.fields.len());
    (&a.module, &a.name, a.exported).cmp(&(&b.module, &b.name, b.exported)).then(count).then_with(
        || a.fields.iter().map(|(name, _)| name).cmp(b.fields.iter().map(|(name, _)| name)),
    )
}

fn compare_funs(a: &Fun, b: &Fun) -> Ordering {
    let identity = |fun: &Fun| (fun.old_index, fun.old_uniq, fun.free.len());
    a.module.cmp(&b.module).then(identity(a).cmp(&identity(b)))
}

/// Compares the fields of funs that nodes ignore, so that only equal funs compare as equal.
fn compare_rest_of_funs(a: &Fun, b: &Fun) -> Ordering {
    let rest = |fun: &Fun| (fun.arity, fun.uniq, fun.index);
    rest(a).cmp(&rest(b)).then_with(|| compare_pids(&a.pid, &b.pid))
}

/// Compares numbers given as words, the least significant first, as a BEAM does: the longer one is
/// greater, ignoring leading zeros.
fn compare_words(a: &[u32], b: &[u32]) -> Ordering {
    let word = |words: &[u32], at: usize| words.get(at).copied().unwrap_or(0);
    let most = a.len().max(b.len());
    let different = (0..most).rev().map(|at| word(a, at).cmp(&word(b, at)));
    different.into_iter().find(|order| order.is_ne()).unwrap_or(a.len().cmp(&b.len()))
}

/// Returns the bytes of a binary or a bit string, and the number of bits.
fn bits(term: &Term) -> Option<(&[u8], usize)> {
    match term {
        Term::Binary(bytes) => Some((bytes, bytes.len() * 8)),
        Term::BitString(bits) => Some((bits.bytes(), bits.bits())),
        _ => None,
    }
}

fn compare_numbers(a: &Term, b: &Term, numbers: Numbers) -> Ordering {
    match (a, b, numbers) {
        (Term::Float(a), Term::Float(b), Numbers::Exactly) => a.get().total_cmp(&b.get()),
        (Term::Float(a), Term::Float(b), Numbers::ByValue) => {
            a.get().partial_cmp(&b.get()).unwrap_or(Ordering::Equal)
        }
        (Term::Float(_), _, Numbers::Exactly) => Ordering::Greater,
        (_, Term::Float(_), Numbers::Exactly) => Ordering::Less,
        (integer, Term::Float(float), Numbers::ByValue) => with_float(integer, *float),
        (Term::Float(float), integer, Numbers::ByValue) => with_float(integer, *float).reverse(),
        (Term::BigInteger(a), Term::BigInteger(b), _) => a.get().cmp(b.get()),
        // One of the two fits 64 bits and the other does not.
        (Term::BigInteger(a), _, _) => sign(a.get()),
        (_, Term::BigInteger(b), _) => sign(b.get()).reverse(),
        _ => Ordering::Equal,
    }
}

/// Compares a number outside of 64 bits with any inside.
fn sign(big: &BigInt) -> Ordering {
    if big.sign() == Sign::Minus { Ordering::Less } else { Ordering::Greater }
}

/// Compares an integer with a float by their exact values.
fn with_float(integer: &Term, float: Float) -> Ordering {
    let fraction = float.get().fract().partial_cmp(&0.0).unwrap_or(Ordering::Equal).reverse();
    match integer {
        Term::Integer(value) if float.get().abs() < (1_u64 << 62) as f64 => {
            value.cmp(&(float.get() as i64)).then(fraction)
        }
        Term::Integer(value) => BigInt::from(*value).cmp(&float.truncated()),
        Term::BigInteger(value) => value.get().cmp(&float.truncated()),
        _ => Ordering::Equal,
    }
}
