//! What is said to epmd and by it, to and from bytes. Pure.
//!
//! A request has two bytes of length before it, an answer has none: how long it is, its
//! own fields say, or the end of the connection.

use std::fmt;

use crate::bytes::Front;
use crate::name::is_part;

/// The longest request that is read, without its length: a name of 255 characters and what stands around it.
pub const MOST_REQUEST: usize = 2048;
/// The longest list of names that is read, some ten thousand nodes.
pub const MOST_NAMES: usize = 1 << 20;
/// The version of the protocol between nodes, which is the only one there is today.
const VERSION: u16 = 6;

const ALIVE2_REQ: u8 = 120;
const PORT_PLEASE2_REQ: u8 = 122;
const NAMES_REQ: u8 = 110;
const ALIVE2_X_RESP: u8 = 118;
const ALIVE2_RESP: u8 = 121;
const PORT2_RESP: u8 = 119;

/// Whether a node is shown among the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It is.
    Normal,
    /// It is connected to only by who means it.
    Hidden,
}

impl Kind {
    fn code(self) -> u8 {
        match self {
            Self::Normal => 77,
            Self::Hidden => 72,
        }
    }

    /// Other numbers were used for C nodes of old, which were not shown.
    fn from_code(code: u8) -> Self {
        if code == 77 { Self::Normal } else { Self::Hidden }
    }
}

/// What a node tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alive {
    /// The part of its name before the `@`.
    pub alive: String,
    /// Where it listens.
    pub port: u16,
    /// Whether it is shown among the nodes.
    pub kind: Kind,
}

/// What is asked of an epmd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Keep this name, as long as the connection is there.
    Alive(Alive),
    /// Where is the node whose name begins so?
    PortPlease(String),
    /// Who is there?
    Names,
}

/// What an epmd knows of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it listens.
    pub port: u16,
    /// Whether it is shown among the nodes.
    pub kind: Kind,
    /// The versions of the protocol that it speaks, lowest and highest.
    pub versions: (u16, u16),
}

impl Found {
    /// Whether it speaks a version that we speak.
    #[must_use]
    pub fn speaks_ours(&self) -> bool {
        (self.versions.0..=self.versions.1).contains(&VERSION)
    }
}

/// An answer, as far as it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// More has to be read.
    Incomplete,
    /// All of it.
    Whole(T),
}

/// What an epmd says that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A request of an unknown kind, or one that its fields do not fill.
    Request,
    /// Not the answer to what was asked.
    Answer,
    /// More than there can be.
    TooLong,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "not a request to epmd",
            Self::Answer => "not an answer of epmd",
            Self::TooLong => "longer than epmd's messages are",
        })
    }
}

impl std::error::Error for Malformed {}

impl Request {
    /// Puts it out, with its length.
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

    /// The first request in what was read, and how many bytes it takes; `None` if it is incomplete.
    ///
    /// # Errors
    /// It is none, or longer than one can be.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let mut front = Front(bytes);
        let Some(length) = front.u16() else { return Ok(None) };
        let length = usize::from(length);
        if length > MOST_REQUEST {
            return Err(Malformed::TooLong);
        }
        let Some(request) = front.bytes(length) else { return Ok(None) };
        let request = Self::parse(Front(request)).ok_or(Malformed::Request)?;
        Ok(Some((request, 2 + length)))
    }

    fn parse(mut front: Front<'_>) -> Option<Self> {
        match front.u8()? {
            ALIVE2_REQ => {
                let port = front.u16()?;
                let (alive, kind, _) = described(&mut front)?;
                Some(Self::Alive(Alive { alive, port, kind }))
            }
            PORT_PLEASE2_REQ => {
                let alive = std::str::from_utf8(front.0).ok()?;
                is_part(alive).then(|| Self::PortPlease(alive.to_owned()))
            }
            NAMES_REQ if front.0.is_empty() => Some(Self::Names),
            _ => None,
        }
    }
}

/// Whether we are registered now, and with which creation; `None` if epmd does not want us.
///
/// # Errors
/// It is not the answer to [`Request::Alive`].
pub fn read_alive(bytes: &[u8]) -> Result<Answer<Option<u32>>, Malformed> {
    let mut front = Front(bytes);
    let Some((kind, result)) = front.u8().zip(front.u8()) else { return incomplete(bytes, 6) };
    let creation = match kind {
        ALIVE2_X_RESP => front.u32(),
        ALIVE2_RESP => front.u16().map(u32::from),
        _ => return Err(Malformed::Answer),
    };
    let whole = |creation| Answer::Whole((result == 0).then_some(creation));
    Ok(creation.map_or(Answer::Incomplete, whole))
}

/// Answers [`Request::Alive`]: with the creation, or that the name is taken.
pub fn write_alive(creation: Option<u32>, out: &mut Vec<u8>) {
    out.extend_from_slice(&[ALIVE2_X_RESP, u8::from(creation.is_none())]);
    out.extend_from_slice(&creation.unwrap_or(0).to_be_bytes());
}

/// Where the node is; `None` if epmd does not know it.
///
/// # Errors
/// It is not the answer to [`Request::PortPlease`].
pub fn read_port(bytes: &[u8]) -> Result<Answer<Option<Found>>, Malformed> {
    let mut front = Front(bytes);
    match front.u8() {
        None => return Ok(Answer::Incomplete),
        Some(PORT2_RESP) => {}
        Some(_) => return Err(Malformed::Answer),
    }
    match front.u8() {
        None => return Ok(Answer::Incomplete),
        Some(0) => {}
        Some(_) => return Ok(Answer::Whole(None)),
    }
    let read = |front: &mut Front<'_>| {
        let port = front.u16()?;
        let (_, kind, versions) = described(front)?;
        Some(Found { port, kind, versions })
    };
    match read(&mut front) {
        Some(found) => Ok(Answer::Whole(Some(found))),
        None => incomplete(bytes, MOST_REQUEST),
    }
}

/// Answers [`Request::PortPlease`].
pub fn write_port(alive: Option<&Alive>, out: &mut Vec<u8>) {
    out.extend_from_slice(&[PORT2_RESP, u8::from(alive.is_none())]);
    if let Some(Alive { alive, port, kind }) = alive {
        out.extend_from_slice(&port.to_be_bytes());
        description(alive, *kind, (VERSION, VERSION), out);
    }
}

/// The names and ports in the whole answer to [`Request::Names`]. A line that says something else is passed over.
///
/// # Errors
/// There is no answer.
pub fn read_names(bytes: &[u8]) -> Result<Vec<(String, u16)>, Malformed> {
    let mut front = Front(bytes);
    front.u32().ok_or(Malformed::Answer)?;
    let text = std::str::from_utf8(front.0).map_err(|_| Malformed::Answer)?;
    let named = |line: &str| {
        let (name, port) = line.strip_prefix("name ")?.split_once(" at port ")?;
        Some((name.to_owned(), port.parse().ok()?))
    };
    Ok(text.lines().filter_map(named).collect())
}

/// Answers [`Request::Names`], of the epmd on `own_port`.
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

/// What requests and answers say of a node alike, behind its port.
fn description(alive: &str, kind: Kind, (lowest, highest): (u16, u16), out: &mut Vec<u8>) {
    out.extend_from_slice(&[kind.code(), 0]);
    out.extend_from_slice(&highest.to_be_bytes());
    out.extend_from_slice(&lowest.to_be_bytes());
    out.extend_from_slice(&(alive.len() as u16).to_be_bytes());
    out.extend_from_slice(alive.as_bytes());
    out.extend_from_slice(&[0, 0]);
}

fn described(front: &mut Front<'_>) -> Option<(String, Kind, (u16, u16))> {
    let [kind, _protocol] = front.array()?;
    let (highest, lowest) = (front.u16()?, front.u16()?);
    let alive = front.text().filter(|name| is_part(name))?.to_owned();
    let extra = front.u16()?;
    front.bytes(extra.into())?;
    Some((alive, Kind::from_code(kind), (lowest, highest)))
}

/// Why nothing was read: because there is more to come, unless there is more already than there can be.
fn incomplete<T>(bytes: &[u8], most: usize) -> Result<Answer<T>, Malformed> {
    if bytes.len() < most { Ok(Answer::Incomplete) } else { Err(Malformed::TooLong) }
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
        assert_eq!(read_alive(b"v\0\0\x01\x02\x03"), Ok(Answer::Whole(Some(0x0001_0203))));
        assert_eq!(read_alive(b"y\0\x01\x02"), Ok(Answer::Whole(Some(0x0102))));
        assert_eq!(read_alive(b"v\x01\0\0\0\0"), Ok(Answer::Whole(None)));
        assert_eq!(read_alive(b"v\0\0\x01\x02"), Ok(Answer::Incomplete));
        assert_eq!(read_alive(b"w\0\0\x01\x02\x03"), Err(Malformed::Answer));
    }

    #[test]
    fn where_a_node_is_comes_back_from_any_number_of_pieces() {
        let mut out = Vec::new();
        write_port(Some(&alive()), &mut out);
        let found = Found { port: 0x1234, kind: Kind::Hidden, versions: (6, 6) };
        for end in 0..out.len() {
            assert_eq!(read_port(&out[..end]), Ok(Answer::Incomplete), "{end} bytes");
        }
        assert_eq!(read_port(&out), Ok(Answer::Whole(Some(found))));
        assert!(found.speaks_ours());
        assert!(!Found { versions: (5, 5), ..found }.speaks_ours());
        assert_eq!(read_port(b"w\x01"), Ok(Answer::Whole(None)));
        assert_eq!(read_port(b"x\0"), Err(Malformed::Answer));
        assert_eq!(read_port(&[&b"w\0"[..], &[1; 3000]].concat()), Err(Malformed::TooLong));
    }

    #[test]
    fn names_come_back_and_a_line_of_another_kind_does_not_hide_them() {
        let mut out = Vec::new();
        write_names(4369, &[alive()], &mut out);
        assert_eq!(out, b"\0\0\x11\x11name shop at port 4660\n");
        out.extend_from_slice(b"hello\nname x at port y\nname z at port 9\n");
        let due = vec![("shop".to_owned(), 0x1234), ("z".to_owned(), 9)];
        assert_eq!(read_names(&out), Ok(due));
        assert_eq!(read_names(b"\0\0"), Err(Malformed::Answer));
    }

    #[test]
    fn a_request_is_refused_by_its_length_or_its_name() {
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
        fn a_request_comes_back_and_every_beginning_of_it_is_incomplete(request in request()) {
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
