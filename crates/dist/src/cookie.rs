//! The secret two nodes share, and how one proves to the other that it knows it. Pure.
//!
//! The cookie itself never crosses the wire and is never printed. What does is MD5 of the
//! cookie and a number that the other side has chosen: enough against who does not know
//! the cookie and cannot listen. Against who can, there is TLS.

use std::fmt;

use md5::{Digest as _, Md5};
use subtle::ConstantTimeEq;

/// What proves that a node knows the cookie, for one challenge.
pub(crate) type Digest = [u8; 16];

/// A node's cookie.
///
/// ```
/// use purlin_dist::Cookie;
///
/// assert_eq!(format!("{:?}", Cookie::new("secret")), "Cookie");
/// ```
#[derive(Clone)]
pub struct Cookie(Box<[u8]>);

impl Cookie {
    /// The cookie of this text. Erlang takes characters beyond ASCII as Latin-1: give such as bytes.
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        Self(text.as_ref().into())
    }

    /// Proves to who has chosen `challenge` that we know the cookie.
    pub(crate) fn digest(&self, challenge: u32) -> Digest {
        Md5::new().chain_update(&self.0).chain_update(challenge.to_string()).finalize().into()
    }

    /// Whether `digest` proves that the other side knows the cookie. Takes as long when it does not.
    pub(crate) fn proves(&self, digest: Digest, challenge: u32) -> bool {
        self.digest(challenge).ct_eq(&digest).into()
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cookie")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_md5_of_the_cookie_and_the_decimal_challenge() {
        // As `erlang:md5(["ABC" | integer_to_list(4294967295)])` says.
        let digest = Cookie::new("ABC").digest(u32::MAX);
        assert_eq!(digest, EXPECTED);
        assert!(Cookie::new("ABC").proves(EXPECTED, u32::MAX));
        assert!(!Cookie::new("ABC").proves(EXPECTED, 0));
        assert!(!Cookie::new("ABX").proves(EXPECTED, u32::MAX));
    }

    const EXPECTED: Digest =
        [94, 49, 122, 160, 229, 70, 53, 16, 220, 88, 91, 113, 127, 80, 85, 106];
}
