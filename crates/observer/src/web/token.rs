//! The access token of the page.

use std::fmt;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// Bytes of a random token: 256 bits.
const RANDOM: usize = 32;
/// Shortest and longest chosen token in characters. The shortest has 128 bits if its characters are random.
const SHORTEST: usize = 22;
const LONGEST: usize = 256;

/// The access token of the page.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Creates a random token.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Validates a chosen token.
    pub(crate) fn chosen(text: &str) -> io::Result<Self> {
        let fits = (SHORTEST..=LONGEST).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        fits.then(|| Self(text.to_string())).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "the observer's token has to be {SHORTEST} to {LONGEST} random letters, digits, '-' and '_'"
                ),
            )
        })
    }

    /// Compares in constant time. The duration reveals only the length of the token, which is no secret.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(given).into()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn random_tokens_are_distinct_and_have_256_bits() {
        let [one, other] = [Token::random(), Token::random()].map(|token| token.expect("random"));
        assert_ne!(one.as_str(), other.as_str());
        assert_eq!(one.as_str().len(), 43);
        assert!(Token::chosen(one.as_str()).is_ok());
    }

    #[test]
    fn a_token_equals_only_itself_and_is_not_part_of_the_debug_output() {
        let token = Token::chosen("0123456789abcdefghijkl").expect("it is long enough");
        assert!(token.is(b"0123456789abcdefghijkl"));
        let others: [&[u8]; 3] = [b"", b"0123456789abcdefghijk", b"0123456789abcdefghijkL"];
        assert!(others.iter().all(|given| !token.is(given)));
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn a_token_that_is_guessable_or_breaks_an_address_is_rejected() {
        let long = "x".repeat(257);
        for text in ["", "secret", "0123456789abcdefghij#?", "0123456789 abcdefghijkl", &long] {
            assert!(Token::chosen(text).is_err(), "{text}");
        }
    }
}
