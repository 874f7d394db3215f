//! The cookie, and the digest that proves knowledge of it. Pure.
//!
//! The cookie itself never crosses the wire and is never printed. The digest is the MD5 of the
//! cookie and a challenge chosen by the peer. This keeps out a peer that does not know the cookie
//! and cannot listen to the network. Against one that can listen, use TLS.

use std::fmt;

use md5::{Digest as _, Md5};
use subtle::ConstantTimeEq;

/// Proof of the cookie for one challenge.
pub(crate) type Digest = [u8; 16];

/// The shared secret of two nodes. Its `Debug` output does not contain it.
///
/// ```
/// use purlin_dist_protocol::Cookie;
///
/// assert_eq!(format!("{:?}", Cookie::new("secret")), "Cookie");
/// ```
#[derive(Clone)]
pub struct Cookie(Box<[u8]>);

impl Cookie {
    /// Creates a cookie from a text. Erlang encodes characters beyond ASCII as Latin-1: pass such a cookie as bytes.
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        Self(text.as_ref().into())
    }

    /// The digest that answers `challenge`.
    pub(crate) fn digest(&self, challenge: u32) -> Digest {
        Md5::new().chain_update(&self.0).chain_update(challenge.to_string()).finalize().into()
    }

    /// Whether `digest` answers `challenge`. Takes constant time.
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
        // The value of `erlang:md5(["ABC" | integer_to_list(4294967295)])`.
        let digest = Cookie::new("ABC").digest(u32::MAX);
        assert_eq!(digest, EXPECTED);
        assert!(Cookie::new("ABC").proves(EXPECTED, u32::MAX));
        assert!(!Cookie::new("ABC").proves(EXPECTED, 0));
        assert!(!Cookie::new("ABX").proves(EXPECTED, u32::MAX));
    }

    const EXPECTED: Digest =
        [94, 49, 122, 160, 229, 70, 53, 16, 220, 88, 91, 113, 127, 80, 85, 106];
}
