//! Floats in text, in as few digits as say exactly which float it is.

use std::fmt;

use crate::Float;

/// From here on floats are whole, and not all whole numbers are floats.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl fmt::Display for Float {
    /// As Erlang prints it: in decimal or with an exponent, whichever is shorter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.get();
        let shortest = format!("{value:e}");
        let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        let length = digits.len() + point.len() + "e".len() + exponent.len();
        if value.abs() < WHOLE {
            let decimal = format!("{value}");
            let point = if decimal.contains('.') { "" } else { ".0" };
            if decimal.len() + point.len() <= length {
                return write!(f, "{decimal}{point}");
            }
        }
        write!(f, "{digits}{point}e{exponent}")
    }
}

#[cfg(test)]
mod tests {
    use crate::Float;

    #[test]
    fn a_float_is_printed_in_decimal_unless_an_exponent_is_shorter() {
        let print = |value| Float::new(value).unwrap().to_string();
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (1000.0, "1.0e3"),
            (0.0001, "0.0001"),
            (0.000_123_45, "1.2345e-4"),
            (123_456_789.0, "123456789.0"),
            (9_007_199_254_740_991.0, "9007199254740991.0"),
            (9_007_199_254_740_992.0, "9.007199254740992e15"),
            (5e-324, "5.0e-324"),
            (f64::MAX, "1.7976931348623157e308"),
        ] {
            assert_eq!(print(value), text);
        }
    }
}
