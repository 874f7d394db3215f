//! Shortest exact text of floats.

use std::fmt;

use crate::Float;

/// 2^53: from here on floats are whole, and not all whole numbers are floats.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl fmt::Display for Float {
    /// Prints as Erlang does: in decimal or with an exponent, whichever is shorter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.get();
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let Some((digits, exponent)) = shortest(value) else { return write!(f, "{sign}0.0") };
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let scientific = format!("{first}.{rest}e{exponent}");
        // Beyond this range decimal notation is always longer.
        if value.abs() < WHOLE && (-8..16).contains(&exponent) {
            let decimal = decimal(&digits, exponent);
            if decimal.len() <= scientific.len() {
                return write!(f, "{sign}{decimal}");
            }
        }
        write!(f, "{sign}{scientific}")
    }
}

/// Returns the digits of a float without surrounding zeros, and the decimal exponent of the first.
/// Returns `None` for zero.
///
/// WHY Ryu: of two equally near shortest texts it takes the even one, as the BEAM does.
fn shortest(value: f64) -> Option<(String, i32)> {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value.abs());
    let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let leading = all.len() - digits.len();
    let exponent = power.parse::<i32>().ok()? + whole.len() as i32 - 1 - leading as i32;
    let digits = digits.trim_end_matches('0');
    (!digits.is_empty()).then(|| (digits.to_owned(), exponent))
}

fn decimal(digits: &str, exponent: i32) -> String {
    let Ok(before) = usize::try_from(exponent + 1) else {
        return format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    };
    match digits.split_at_checked(before) {
        Some(("", after)) => format!("0.{after}"),
        Some((whole, after)) if !after.is_empty() => format!("{whole}.{after}"),
        _ => format!("{digits}{}.0", "0".repeat(before - digits.len())),
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
            (0.1, "0.1"),
            (12.5, "12.5"),
            (10.0, "10.0"),
            (3_243_767_448_167_901.0 / 4.0, "810941862041975.2"),
            (5e-324, "5.0e-324"),
            (f64::MAX, "1.7976931348623157e308"),
        ] {
            assert_eq!(print(value), text);
        }
    }
}
