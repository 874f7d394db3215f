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

/// Most characters of a cookie, which is an atom in Erlang.
const LONGEST: usize = 255;

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

    /// Reads the cookie from the file `.erlang.cookie` in the user's home or, without one, from `erlang/.erlang.cookie`
    /// in the folder of the user's configuration, as `erl` does. Does not create it.
    ///
    /// # Errors
    /// [`NoCookie`]: the file does not exist, has no cookie or too long a one, or can be read by other users.
    pub fn from_home() -> Result<Self, NoCookie> {
        let home = env::home_dir().ok_or(NoCookie::Home)?;
        let configuration = match env::var_os("XDG_CONFIG_HOME") {
            Some(folder) => PathBuf::from(folder),
            None if cfg!(target_os = "macos") => home.join("Library/Application Support"),
            None => home.join(".config"),
        };
        let files = [home.join(FILE), configuration.join("erlang").join(FILE)];
        Self::from_files(files)
    }

    /// Reads the cookie from the first of these files, or from the second one if the first does not exist.
    fn from_files([first, second]: [PathBuf; 2]) -> Result<Self, NoCookie> {
        if !first.exists() && second.exists() {
            return Self::from_file(second);
        }
        Self::from_file(first)
    }

    fn from_file(path: PathBuf) -> Result<Self, NoCookie> {
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) => return Err(NoCookie::File(path, error)),
        };
        if !is_private(&path) {
            return Err(NoCookie::Public(path));
        }
        // As a BEAM reads it: spaces belong to the cookie, also at the end of its line.
        let is_of_cookie = |byte: &u8| matches!(byte, b' '..=b'~');
        let (cookie, rest) =
            text.split_at(text.iter().take_while(|byte| is_of_cookie(byte)).count());
        match (cookie, rest.trim_ascii_start()) {
            (_, [_, ..]) => Err(NoCookie::Characters(path)),
            ([], _) => Err(NoCookie::Empty(path)),
            (cookie, _) if cookie.len() > LONGEST => Err(NoCookie::TooLong(path)),
            (cookie, _) => Ok(Self::new(cookie)),
        }
    }

    /// Whether it has no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has more than 255 characters, which no BEAM node accepts as a cookie.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.0.len() > LONGEST
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
    /// The file has more than one line, or characters that are not printable ASCII.
    #[error("no cookie: {path} must be one line of printable ASCII", path = .0.display())]
    Characters(PathBuf),
    /// The file is empty.
    #[error("no cookie: {path} is empty", path = .0.display())]
    Empty(PathBuf),
    /// The cookie in the file has more than 255 characters.
    #[error("no cookie: {path} has more than 255 characters", path = .0.display())]
    TooLong(PathBuf),
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
        let other = path.with_extension("other");
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
        for (text, due) in [("ABC  \n", Some("ABC  ")), ("ABC\r\n", Some("ABC")), ("\nABC", None)]
            .into_iter()
            .chain([("A\nB", None), ("A\u{e4}", None), (" ", Some(" "))])
        {
            fs::write(&path, text).expect("a temporary file");
            assert_eq!(
                read(0o600).ok().map(|cookie| cookie.0),
                due.map(|due| due.as_bytes().into())
            );
        }
        fs::write(&path, "x".repeat(LONGEST)).expect("a temporary file");
        assert!(read(0o600).is_ok_and(|cookie| !cookie.is_too_long()));
        fs::write(&path, "x".repeat(LONGEST + 1)).expect("a temporary file");
        assert!(read(0o600).is_err_and(|error| error.ends_with(" has more than 255 characters")));
        fs::write(&path, " ").expect("a temporary file");
        let files = || Cookie::from_files([other.clone(), path.clone()]).map(|cookie| cookie.0);
        assert_eq!(*files().expect("the second file"), *b" ");
        fs::write(&other, "").expect("a temporary file");
        assert!(files().is_err(), "the first file exists");
        for file in [&path, &other] {
            fs::remove_file(file).expect("it is ours");
        }
    }

    const EXPECTED: Digest =
        [94, 49, 122, 160, 229, 70, 53, 16, 220, 88, 91, 113, 127, 80, 85, 106];
}
