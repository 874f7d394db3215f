//! The parts of a term as they stand in the bytes, one after the other.

use std::borrow::Cow;

use num_bigint::{BigInt, Sign};

use crate::{Atom, Export, Float, Pid, Port, Reference};

/// A term that holds no others, or the beginning of one that does.
///
/// What a beginning announces follows as whole terms: `Tuple(2)` is followed by two.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'a> {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// Another integer.
    BigInteger(Magnitude<'a>),
    /// A float.
    Float(Float),
    /// The text of an atom; borrowed unless it stands in Latin-1 and is more than ASCII.
    Atom(Cow<'a, str>),
    /// A binary.
    Binary(&'a [u8]),
    /// A bit string: its bytes, and how many bits of the last one count, 1 to 7.
    BitString(&'a [u8], u8),
    /// The empty list.
    Nil,
    /// A list of integers from 0 to 255; nothing follows.
    String(&'a [u8]),
    /// So many elements follow.
    Tuple(usize),
    /// So many elements follow, and then the tail.
    List(usize),
    /// So many pairs follow, each a key and a value.
    Map(usize),
    /// A process.
    Pid(Box<Pid>),
    /// A port.
    Port(Box<Port>),
    /// A reference.
    Reference(Box<Reference>),
    /// A function named from outside.
    Export(Box<Export>),
    /// A fun, and how many free variables follow.
    Fun(Box<FunHead>, usize),
}

impl Token<'_> {
    /// How many terms follow that belong to this one.
    pub fn parts(&self) -> usize {
        match self {
            Self::Tuple(count) | Self::Fun(_, count) => *count,
            Self::List(count) => count + 1,
            Self::Map(count) => count * 2,
            _ => 0,
        }
    }
}

/// A process as it stands in the bytes; the name of its node is borrowed unless it stands in Latin-1 and
/// is more than ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PidParts<'a> {
    /// The name of its node.
    pub node: Cow<'a, str>,
    /// The first number.
    pub id: u32,
    /// The second number.
    pub serial: u32,
    /// Which life of its node it belongs to.
    pub creation: u32,
}

/// All of a fun but its free variables.
#[derive(Clone, Debug, PartialEq)]
pub struct FunHead {
    pub(crate) module: Atom,
    pub(crate) arity: u8,
    pub(crate) uniq: [u8; 16],
    pub(crate) index: u32,
    pub(crate) old_index: i64,
    pub(crate) old_uniq: i64,
    pub(crate) pid: Pid,
}

/// An integer as it stands in the bytes: a sign and digits of 256, the least significant first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitude<'a> {
    /// Whether it is less than zero.
    pub negative: bool,
    /// The digits; zeros at the end count for nothing.
    pub digits: &'a [u8],
}

impl Magnitude<'_> {
    /// The integer, if it fits.
    pub fn as_i128(&self) -> Option<i128> {
        let end = self.digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
        let mut bytes = [0; 16];
        bytes.get_mut(..end)?.copy_from_slice(&self.digits[..end]);
        let magnitude = u128::from_le_bytes(bytes);
        if self.negative {
            0_i128.checked_sub_unsigned(magnitude)
        } else {
            i128::try_from(magnitude).ok()
        }
    }

    /// The integer. COST: one allocation.
    pub fn to_big(&self) -> BigInt {
        BigInt::from_bytes_le(if self.negative { Sign::Minus } else { Sign::Plus }, self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::Magnitude;

    #[test]
    fn digits_are_the_least_significant_first_and_zeros_at_the_end_count_for_nothing() {
        let value = |negative, digits| Magnitude { negative, digits }.as_i128();
        assert_eq!(value(false, &[]), Some(0));
        assert_eq!(value(true, &[1, 2, 0]), Some(-513));
        assert_eq!(value(false, &[255; 16]), None);
        let mut least = [0; 17];
        least[15] = 0x80;
        assert_eq!(value(true, &least), Some(i128::MIN));
        assert_eq!(value(false, &least), None);
    }
}
