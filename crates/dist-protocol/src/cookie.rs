//! The cookie, and the digest that proves knowledge of it. Pure.
//!
//! The cookie itself never crosses the wire and is never printed. The digest is the MD5 of the
//! cookie and a challenge chosen by the peer. This keeps out a peer that does not know the cookie
//! and cannot listen to the network. Against one that can listen, use TLS.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

use md5::{Digest as _, Md5};
use subtle::ConstantTimeEq;

/// Cookie file in the user's home.
const FILE: &str = ".erlang.cookie";

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

    /// Reads the cookie from the file `.erlang.cookie` in the user's home, as `erl` does. Does not create it.
    ///
    /// # Errors
    /// [`NoCookie`]: the file does not exist, is empty, or can be read by other users.
    pub fn from_home() -> Result<Self, NoCookie> {
        Self::from_file(env::home_dir().ok_or(NoCookie::Home)?.join(FILE))
    }

    fn from_file(path: PathBuf) -> Result<Self, NoCookie> {
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) => return Err(NoCookie::File(path, error)),
        };
        if !is_private(&path) {
            return Err(NoCookie::Public(path));
        }
        match text.trim_ascii_end() {
            [] => Err(NoCookie::Empty(path)),
            text => Ok(Self::new(text)),
        }
    }

    /// Whether it has no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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

/// Returns whether only the owner can access the file.
fn is_private(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 == 0)
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

/// The reason why no cookie was found in the user's home.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoCookie {
    /// The user has no home.
    #[error("no cookie: there is no home directory")]
    Home,
    /// The file cannot be read.
    #[error("no cookie: {path}: {error}", path = .0.display(), error = .1)]
    File(PathBuf, #[source] io::Error),
    /// Others than the owner can access the file.
    #[error("no cookie: others may read {path}; chmod 400 it", path = .0.display())]
    Public(PathBuf),
    /// The file is empty.
    #[error("no cookie: {path} is empty", path = .0.display())]
    Empty(PathBuf),
}

impl AsRef<[u8]> for Cookie {
    fn as_ref(&self) -> &[u8] {
        &self.0
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

    #[cfg(unix)]
    #[test]
    fn a_cookie_file_must_exist_with_some_text_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let path = env::temp_dir().join(format!("purlin-cookie-{}", std::process::id()));
        let read = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
            Cookie::from_file(path.clone()).map_err(|error| error.to_string())
        };
        let missing = Cookie::from_file(path.clone()).map_err(|error| error.to_string());
        assert!(missing.is_err_and(|error| error.contains("No such file")));
        fs::write(&path, "ABC\n").expect("a temporary file");
        assert_eq!(read(0o400).expect("a cookie").digest(u32::MAX), EXPECTED);
        assert!(read(0o644).is_err_and(|error| error.ends_with("; chmod 400 it")));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        fs::write(&path, "\n").expect("a temporary file");
        assert!(read(0o600).is_err_and(|error| error.ends_with(" is empty")));
        fs::remove_file(&path).expect("it is ours");
    }

    const EXPECTED: Digest =
        [94, 49, 122, 160, 229, 70, 53, 16, 220, 88, 91, 113, 127, 80, 85, 106];
}
