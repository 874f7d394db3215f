//! Codec of the epmd protocol. Pure.
//!
//! A request has a two-byte length prefix. An answer has none: its length follows from its fields,
//! or from the end of the connection.

use crate::cursor::Cursor;
use crate::name::is_part;

/// Maximum length of an accepted request without its length prefix: a name of 255 characters and the other fields.
pub const MOST_REQUEST: usize = 2048;
/// Maximum length of an accepted list of names; enough for some ten thousand nodes.
pub const MOST_NAMES: usize = 1 << 20;
/// The version of the distribution protocol; currently the only one.
const VERSION: u16 = 6;

const ALIVE2_REQ: u8 = 120;
const PORT_PLEASE2_REQ: u8 = 122;
const NAMES_REQ: u8 = 110;
const ALIVE2_X_RESP: u8 = 118;
const ALIVE2_RESP: u8 = 121;
const PORT2_RESP: u8 = 119;

/// Whether a node is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The node is published.
    Normal,
    /// The node is hidden: other nodes connect to it only on request.
    Hidden,
}

impl Kind {
    fn code(self) -> u8 {
        match self {
            Self::Normal => 77,
            Self::Hidden => 72,
        }
    }

    /// Other values were used by old C nodes, which were hidden.
    fn from_code(code: u8) -> Self {
        if code == 77 { Self::Normal } else { Self::Hidden }
    }
}

/// The registration of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alive {
    /// The part of the node name before the `@`.
    pub alive: String,
    /// The port it listens on.
    pub port: u16,
    /// Whether the node is published.
    pub kind: Kind,
}

/// A request to epmd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Registers a node for as long as the connection is open.
    Alive(Alive),
    /// Looks up a node by the part of its name before the `@`.
    PortPlease(String),
    /// Lists all nodes.
    Names,
}

/// A registered node, as returned by epmd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The port it listens on.
    pub port: u16,
    /// Whether the node is published.
    pub kind: Kind,
    /// The lowest and highest version of the distribution protocol that it speaks.
    pub versions: (u16, u16),
}

impl Found {
    /// Whether the node speaks our protocol version.
    #[must_use]
    pub fn speaks_ours(&self) -> bool {
        (self.versions.0..=self.versions.1).contains(&VERSION)
    }
}

/// Error for bytes that are not the epmd protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A request of an unknown kind, or with invalid fields.
    #[error("not a request to epmd")]
    Request,
    /// Not the answer to the request.
    #[error("not an answer of epmd")]
    Answer,
    /// Longer than the limit.
    #[error("longer than epmd's messages are")]
    TooLong,
}

impl Request {
    /// Appends the request, with its length prefix, to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0, 0]);
        match self {
            Self::Alive(Alive { alive, port, kind }) => {
                out.push(ALIVE2_REQ);
                out.extend_from_slice(&port.to_be_bytes());
                description(alive, *kind, (VERSION, VERSION), out);
            }
            Self::PortPlease(alive) => {
                out.push(PORT_PLEASE2_REQ);
                out.extend_from_slice(alive.as_bytes());
            }
            Self::Names => out.push(NAMES_REQ),
        }
        let length = (out.len() - start - 2) as u16;
        out[start..start + 2].copy_from_slice(&length.to_be_bytes());
    }

    /// Decodes the first request in `bytes`. Returns it with the number of bytes it takes, or `None` if it is
    /// incomplete.
    ///
    /// # Errors
    /// Not a request, or longer than the limit.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let mut cursor = Cursor(bytes);
        let Some(length) = cursor.u16() else { return Ok(None) };
        let length = usize::from(length);
        if length > MOST_REQUEST {
            return Err(Malformed::TooLong);
        }
        let Some(request) = cursor.bytes(length) else { return Ok(None) };
        let request = Self::parse(Cursor(request)).ok_or(Malformed::Request)?;
        Ok(Some((request, 2 + length)))
    }

    fn parse(mut cursor: Cursor<'_>) -> Option<Self> {
        match cursor.u8()? {
            ALIVE2_REQ => {
                let port = cursor.u16()?;
                let (alive, kind, _) = described(&mut cursor)?;
                Some(Self::Alive(Alive { alive, port, kind }))
            }
            PORT_PLEASE2_REQ => {
                let alive = std::str::from_utf8(cursor.0).ok()?;
                is_part(alive).then(|| Self::PortPlease(alive.to_owned()))
            }
            NAMES_REQ if cursor.0.is_empty() => Some(Self::Names),
            _ => None,
        }
    }
}

/// Decodes the answer to a registration: the creation, or `Some(None)` if epmd refuses the registration. Returns `None`
/// if the answer is incomplete.
///
/// # Errors
/// Not the answer to [`Request::Alive`].
pub fn read_alive(bytes: &[u8]) -> Result<Option<Option<u32>>, Malformed> {
    let mut cursor = Cursor(bytes);
    let Some((kind, result)) = cursor.u8().zip(cursor.u8()) else { return incomplete(bytes, 6) };
    let creation = match kind {
        ALIVE2_X_RESP => cursor.u32(),
        ALIVE2_RESP => cursor.u16().map(u32::from),
        _ => return Err(Malformed::Answer),
    };
    Ok(creation.map(|creation| (result == 0).then_some(creation)))
}

/// Encodes the answer to [`Request::Alive`]: the creation, or `None` if the name is taken.
pub fn write_alive(creation: Option<u32>, out: &mut Vec<u8>) {
    out.extend_from_slice(&[ALIVE2_X_RESP, u8::from(creation.is_none())]);
    out.extend_from_slice(&creation.unwrap_or(0).to_be_bytes());
}

/// Decodes the answer to a lookup; `Some(None)` if the node is not registered, `None` if the answer is incomplete.
///
/// # Errors
/// Not the answer to [`Request::PortPlease`].
pub fn read_port(bytes: &[u8]) -> Result<Option<Option<Found>>, Malformed> {
    let mut cursor = Cursor(bytes);
    match cursor.u8() {
        None => return Ok(None),
        Some(PORT2_RESP) => {}
        Some(_) => return Err(Malformed::Answer),
    }
    match cursor.u8() {
        None => return Ok(None),
        Some(0) => {}
        Some(_) => return Ok(Some(None)),
    }
    let read = |cursor: &mut Cursor<'_>| {
        let port = cursor.u16()?;
        let (_, kind, versions) = described(cursor)?;
        Some(Found { port, kind, versions })
    };
    match read(&mut cursor) {
        Some(found) => Ok(Some(Some(found))),
        None => incomplete(bytes, MOST_REQUEST),
    }
}

/// Encodes the answer to [`Request::PortPlease`].
pub fn write_port(alive: Option<&Alive>, out: &mut Vec<u8>) {
    out.extend_from_slice(&[PORT2_RESP, u8::from(alive.is_none())]);
    if let Some(Alive { alive, port, kind }) = alive {
        out.extend_from_slice(&port.to_be_bytes());
        description(alive, *kind, (VERSION, VERSION), out);
    }
}

/// Decodes the complete answer to [`Request::Names`]. Skips lines of any other form.
///
/// # Errors
/// The answer is shorter than its fixed part, or not UTF-8.
pub fn read_names(bytes: &[u8]) -> Result<Vec<(String, u16)>, Malformed> {
    let mut cursor = Cursor(bytes);
    cursor.u32().ok_or(Malformed::Answer)?;
    let text = std::str::from_utf8(cursor.0).map_err(|_| Malformed::Answer)?;
    let named = |line: &str| {
        let (name, port) = line.strip_prefix("name ")?.split_once(" at port ")?;
        Some((name.to_owned(), port.parse().ok()?))
    };
    Ok(text.lines().filter_map(named).collect())
}

/// Encodes the answer to [`Request::Names`] of the epmd on `own_port`.
pub fn write_names<'a>(
    own_port: u16,
    nodes: impl IntoIterator<Item = &'a Alive>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&u32::from(own_port).to_be_bytes());
    for Alive { alive, port, .. } in nodes {
        out.extend_from_slice(format!("name {alive} at port {port}\n").as_bytes());
    }
}

/// Encodes the fields after the port, which requests and answers have in common.
fn description(alive: &str, kind: Kind, (lowest, highest): (u16, u16), out: &mut Vec<u8>) {
    out.extend_from_slice(&[kind.code(), 0]);
    out.extend_from_slice(&highest.to_be_bytes());
    out.extend_from_slice(&lowest.to_be_bytes());
    out.extend_from_slice(&(alive.len() as u16).to_be_bytes());
    out.extend_from_slice(alive.as_bytes());
    out.extend_from_slice(&[0, 0]);
}

fn described(cursor: &mut Cursor<'_>) -> Option<(String, Kind, (u16, u16))> {
    let [kind, _protocol] = cursor.array()?;
    let (highest, lowest) = (cursor.u16()?, cursor.u16()?);
    let alive = cursor.text().filter(|name| is_part(name))?.to_owned();
    let extra = cursor.u16()?;
    cursor.bytes(extra.into())?;
    Some((alive, Kind::from_code(kind), (lowest, highest)))
}

/// The result for missing bytes: incomplete, or an error if there are already more than `most`.
fn incomplete<T>(bytes: &[u8], most: usize) -> Result<Option<T>, Malformed> {
    if bytes.len() < most { Ok(None) } else { Err(Malformed::TooLong) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn alive() -> Alive {
        Alive { alive: "shop".to_owned(), port: 0x1234, kind: Kind::Hidden }
    }

    fn written(request: &Request) -> Vec<u8> {
        let mut out = Vec::new();
        request.write(&mut out);
        out
    }

    #[test]
    fn requests_are_those_of_the_protocol() {
        let alive = written(&Request::Alive(alive()));
        assert_eq!(alive, b"\0\x11x\x12\x34\x48\0\0\x06\0\x06\0\x04shop\0\0");
        assert_eq!(written(&Request::PortPlease("shop".to_owned())), b"\0\x05zshop");
        assert_eq!(written(&Request::Names), b"\0\x01n");
    }

    #[test]
    fn a_registration_is_answered_with_a_creation_of_either_size_or_refused() {
        assert_eq!(read_alive(b"v\0\0\x01\x02\x03"), Ok(Some(Some(0x0001_0203))));
        assert_eq!(read_alive(b"y\0\x01\x02"), Ok(Some(Some(0x0102))));
        assert_eq!(read_alive(b"v\x01\0\0\0\0"), Ok(Some(None)));
        assert_eq!(read_alive(b"v\0\0\x01\x02"), Ok(None));
        assert_eq!(read_alive(b"w\0\0\x01\x02\x03"), Err(Malformed::Answer));
    }

    #[test]
    fn port_answer_is_decoded_and_every_prefix_of_it_is_incomplete() {
        let mut out = Vec::new();
        write_port(Some(&alive()), &mut out);
        let found = Found { port: 0x1234, kind: Kind::Hidden, versions: (6, 6) };
        for end in 0..out.len() {
            assert_eq!(read_port(&out[..end]), Ok(None), "{end} bytes");
        }
        assert_eq!(read_port(&out), Ok(Some(Some(found))));
        assert!(found.speaks_ours());
        assert!(!Found { versions: (5, 5), ..found }.speaks_ours());
        assert_eq!(read_port(b"w\x01"), Ok(Some(None)));
        assert_eq!(read_port(b"x\0"), Err(Malformed::Answer));
        assert_eq!(read_port(&[&b"w\0"[..], &[1; 3000]].concat()), Err(Malformed::TooLong));
    }

    #[test]
    fn names_are_decoded_and_other_lines_are_skipped() {
        let mut out = Vec::new();
        write_names(4369, &[alive()], &mut out);
        assert_eq!(out, b"\0\0\x11\x11name shop at port 4660\n");
        out.extend_from_slice(b"hello\nname x at port y\nname z at port 9\n");
        let due = vec![("shop".to_owned(), 0x1234), ("z".to_owned(), 9)];
        assert_eq!(read_names(&out), Ok(due));
        assert_eq!(read_names(b"\0\0"), Err(Malformed::Answer));
    }

    #[test]
    fn request_with_an_invalid_length_or_name_is_refused() {
        assert_eq!(Request::read(b"\xff\xff"), Err(Malformed::TooLong));
        assert_eq!(Request::read(b"\0\x03za\n"), Err(Malformed::Request));
        assert_eq!(Request::read(b"\0\x01k"), Err(Malformed::Request));
        assert_eq!(Request::read(b"\0\0"), Err(Malformed::Request));
    }

    fn request() -> impl Strategy<Value = Request> {
        let name = "[a-z0-9_é]{1,40}";
        let kind = prop_oneof![Just(Kind::Normal), Just(Kind::Hidden)];
        prop_oneof![
            (name, any::<u16>(), kind).prop_map(|(alive, port, kind)| Request::Alive(Alive {
                alive,
                port,
                kind
            })),
            name.prop_map(Request::PortPlease),
            Just(Request::Names),
        ]
    }

    proptest! {
        #[test]
        fn request_survives_the_round_trip_and_every_prefix_of_it_is_incomplete(request in request()) {
            let bytes = written(&request);
            for end in 0..bytes.len() {
                prop_assert_eq!(Request::read(&bytes[..end]), Ok(None));
            }
            prop_assert_eq!(Request::read(&bytes), Ok(Some((request, bytes.len()))));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (Request::read(&bytes), read_alive(&bytes), read_port(&bytes), read_names(&bytes));
        }
    }
}
