//! The secret that opens the page.

use std::fmt;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// Random bytes of a token that nobody chose: 256 bits.
const RANDOM: usize = 32;
/// How long a token that somebody chose has to be: 128 bits, if its letters are random.
const SHORTEST: usize = 22;
const LONGEST: usize = 256;

/// The secret that opens the page.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// One that nobody knows.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// One that somebody chose.
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

    /// Whether somebody said it. How long that takes says nothing but the length of a token, which is no
    /// secret.
    pub(crate) fn is(&self, said: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(said).into()
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
    fn no_two_random_tokens_are_the_same_and_each_has_256_bits() {
        let [one, other] = [Token::random(), Token::random()].map(|token| token.expect("random"));
        assert_ne!(one.as_str(), other.as_str());
        assert_eq!(one.as_str().len(), 43);
        assert!(Token::chosen(one.as_str()).is_ok());
    }

    #[test]
    fn a_token_is_itself_alone_and_is_not_printed() {
        let token = Token::chosen("0123456789abcdefghijkl").expect("it is long enough");
        assert!(token.is(b"0123456789abcdefghijkl"));
        let others: [&[u8]; 3] = [b"", b"0123456789abcdefghijk", b"0123456789abcdefghijkL"];
        assert!(others.iter().all(|said| !token.is(said)));
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn a_token_that_can_be_guessed_or_breaks_an_address_is_refused() {
        let long = "x".repeat(257);
        for text in ["", "secret", "0123456789abcdefghij#?", "0123456789 abcdefghijkl", &long] {
            assert!(Token::chosen(text).is_err(), "{text}");
        }
    }
}
