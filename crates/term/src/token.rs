//! Tokens of the external term format.

use std::borrow::Cow;

use num_bigint::{BigInt, Sign};

use crate::{Atom, Export, Float, Pid, Port, Reference};

/// A simple term, or the head of a compound one.
///
/// The parts of a compound term follow as whole terms: `Tuple(2)` is followed by two.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'a> {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A larger integer.
    BigInteger(Magnitude<'a>),
    /// A float.
    Float(Float),
    /// Text of an atom; borrowed unless it is Latin-1 and not ASCII.
    Atom(Cow<'a, str>),
    /// A binary.
    Binary(&'a [u8]),
    /// A bit string: its bytes, and the number of significant bits of the last one, 1 to 7.
    BitString(&'a [u8], u8),
    /// The empty list.
    Nil,
    /// A list of integers from 0 to 255; no parts follow.
    String(&'a [u8]),
    /// A tuple; this number of elements follows.
    Tuple(usize),
    /// A list; this number of elements follows, and then the tail.
    List(usize),
    /// A map; this number of pairs follows, each a key and a value.
    Map(usize),
    /// A process identifier.
    Pid(Box<Pid>),
    /// A port identifier.
    Port(Box<Port>),
    /// A reference.
    Reference(Box<Reference>),
    /// An external fun.
    Export(Box<Export>),
    /// A native record without its values, one of which follows for each field.
    NativeRecord(Box<NativeRecordHead>),
    /// A fun, and the number of free variables that follow.
    Fun(Box<FunHead>, usize),
}

impl Token<'_> {
    /// Returns the number of terms that follow as parts.
    pub fn parts(&self) -> usize {
        match self {
            Self::Tuple(count) | Self::Fun(_, count) => *count,
            Self::List(count) => count + 1,
            Self::Map(count) => count * 2,
            Self::NativeRecord(head) => head.fields.len(),
            _ => 0,
        }
    }
}

/// A pid whose node name is borrowed unless it is Latin-1 and not ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PidParts<'a> {
    /// Name of its node.
    pub node: Cow<'a, str>,
    /// Id number.
    pub id: u32,
    /// Serial number.
    pub serial: u32,
    /// Creation of the node.
    pub creation: u32,
}

/// A fun without its free variables.
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

/// A native record without the values of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeRecordHead {
    /// Module that defines it.
    pub module: Atom,
    /// Its name.
    pub name: Atom,
    /// Whether other modules may access its fields.
    pub exported: bool,
    /// Names of its fields.
    pub fields: Vec<Atom>,
}

/// A big integer in encoded form: a sign and base-256 digits, the least significant first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitude<'a> {
    /// Whether it is less than zero.
    pub negative: bool,
    /// Digits; trailing zeros are insignificant.
    pub digits: &'a [u8],
}

impl Magnitude<'_> {
    /// Returns the integer if it fits.
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

    /// Returns the integer. COST: one allocation.
    pub fn to_big(&self) -> BigInt {
        BigInt::from_bytes_le(if self.negative { Sign::Minus } else { Sign::Plus }, self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::Magnitude;

    #[test]
    fn digits_are_little_endian_and_trailing_zeros_are_insignificant() {
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
