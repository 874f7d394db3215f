//! Finite floats and integers of arbitrary size.
//!
//! INVARIANT: an integer that fits an `i64` is a [`Term::Integer`](crate::Term::Integer) and never
//! a [`BigInteger`]; a float is finite. So equal terms have equal representations, and can be
//! hashed.

use std::fmt;

use num_bigint::{BigInt, Sign};
use num_traits::FromPrimitive;

/// A finite float; Erlang has no others.
///
/// Floats are equal if their bits are, so `0.0` and `-0.0` differ, as they do since OTP 27.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Float {
    bits: u64,
}

impl Float {
    /// Creates a float, or returns `None` if the value is not finite.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self { bits: value.to_bits() })
    }

    /// Returns the value.
    pub fn get(self) -> f64 {
        f64::from_bits(self.bits)
    }

    /// Returns the float truncated to an integer.
    pub(crate) fn truncated(self) -> BigInt {
        // A finite float has such an integer.
        BigInt::from_f64(self.get()).unwrap_or_default()
    }
}

impl From<Float> for f64 {
    fn from(float: Float) -> Self {
        float.get()
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// An integer outside of `i64`, created by `Term::from` of a [`BigInt`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BigInteger(pub(crate) Box<BigInt>);

impl BigInteger {
    /// Returns the value.
    pub fn get(&self) -> &BigInt {
        &self.0
    }
}

/// Longest integer that is printed in decimal, in bits.
///
/// WHY: the time to print it in decimal grows with the square of its length; 512 KiB take a second.
const LONGEST_DECIMAL: u64 = 8 * 4096;

/// In Erlang syntax: in decimal up to 4 KiB, longer ones in hexadecimal, `16#...`.
impl fmt::Debug for BigInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.bits() <= LONGEST_DECIMAL {
            return fmt::Display::fmt(&self.0, f);
        }
        let sign = if self.0.sign() == Sign::Minus { "-" } else { "" };
        write!(f, "{sign}16#{:X}", self.0.magnitude())
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::{Float, LONGEST_DECIMAL};
    use crate::Term;

    #[test]
    fn a_float_is_finite_and_zeros_differ_by_their_sign() {
        assert_eq!(Float::new(f64::NAN), None);
        assert_eq!(Float::new(f64::INFINITY), None);
        assert_ne!(Float::new(0.0), Float::new(-0.0));
    }

    #[test]
    fn long_integers_are_printed_in_hexadecimal() {
        let power: BigInt = BigInt::from(1) << LONGEST_DECIMAL;
        let longest: BigInt = &power - 1;
        let digits = format!("16#1{}", "0".repeat(4096 * 2));
        for (value, text) in [
            (longest.clone(), longest.to_string()),
            (power.clone(), digits.clone()),
            (-power, format!("-{digits}")),
        ] {
            let term = Term::from(value);
            assert_eq!(term.to_string(), text);
            assert_eq!(text.parse(), Ok(term));
        }
    }

    #[test]
    fn a_float_is_truncated_towards_zero() {
        let cut = |value: f64| Float::new(value).unwrap().truncated();
        for value in [0.0, 0.9, 1.0, -1.5, 4_294_967_296.5, -9_007_199_254_740_993.0, 1e18] {
            assert_eq!(cut(value), BigInt::from(value as i64), "{value}");
        }
        assert_eq!(cut(f64::MIN_POSITIVE), BigInt::ZERO);
        assert_eq!(cut(1e22).to_string(), "10000000000000000000000");
    }
}
