//! Protocol of a server: a table of its requests.

/// Requests of a server that is declared by [`#[purlin::server]`](macro@crate::server); a static
/// table, which [`Server::protocol`](super::Server::protocol) returns.
///
/// ```
/// # #[derive(Debug)] struct Counter(i64);
/// #[purlin::server]
/// impl Counter {
///     /// Adds a number, and returns the sum.
///     #[call]
///     fn add(&mut self, number: i64) -> i64 {
///         self.0 += number;
///         self.0
///     }
/// }
///
/// use purlin::server::{RequestKind, Server};
///
/// let protocol = Counter::protocol().expect("the server is declared by the macro");
/// let add = &protocol.requests[0];
/// assert_eq!((protocol.name, add.name, add.kind), ("Counter", "add", RequestKind::Call));
/// assert_eq!((add.arguments[0].name, add.arguments[0].type_name), ("number", "i64"));
/// assert_eq!((add.reply, add.docs), (Some("i64"), "Adds a number, and returns the sum."));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Name of the server's type, without its path.
    pub name: &'static str,
    /// Requests: calls, then casts, then infos, each in the order of the declaration.
    pub requests: &'static [Request],
}

/// Request of a [`Protocol`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Call, cast or info.
    pub kind: RequestKind,
    /// Name of the method that handles it.
    pub name: &'static str,
    /// Arguments, without the reply.
    pub arguments: &'static [Argument],
    /// Type of the reply as it is written in the source; `None` unless this is a call.
    pub reply: Option<&'static str>,
    /// Doc comment of the method, or an empty string.
    pub docs: &'static str,
}

/// Argument of a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Name of the parameter.
    pub name: &'static str,
    /// Type of the parameter as it is written in the source.
    pub type_name: &'static str,
}

/// Kind of a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A request with a reply.
    Call,
    /// A request without a reply.
    Cast,
    /// A message that is neither a call nor a cast.
    Info,
}
