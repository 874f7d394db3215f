//! The two nodes of a handshake, and its steps.

use crate::flags::Flags;
use crate::name::NodeName;

/// Identity of this node in the handshake.
#[derive(Clone, Debug)]
pub struct LocalNode {
    /// The node name.
    pub name: NodeName,
    /// The creation, which distinguishes this node from earlier ones of the same name.
    pub creation: u32,
    /// [`Flags::OFFERED`], and [`Flags::PUBLISHED`] unless the node is hidden.
    pub flags: Flags,
}

/// The next step of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another frame is expected.
    More,
    /// The acceptor has a connection to a node of our name. The initiator must state whether that connection is dead
    /// ([`Initiator::go_on`](super::Initiator::go_on)).
    Alive,
    /// The acceptor knows the caller and must decide ([`Acceptor::decide`](super::Acceptor::decide)).
    Called(Caller),
    /// Both nodes have proven knowledge of the cookie.
    Done(Established),
}

/// Result of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// The peer's name.
    pub peer: NodeName,
    /// The peer's creation. A node with the same name and another creation is another node.
    pub creation: u32,
    /// The flags that both nodes have.
    pub flags: Flags,
}

/// The caller, unauthenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name it gives.
    pub name: NodeName,
    /// Its flags, as far as they are known.
    pub flags: Flags,
    /// Its creation; `None` after the old first frame.
    pub creation: Option<u32>,
}

/// The status to send to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted.
    Ok,
    /// Simultaneous connect, and the caller's connection wins: our call is cancelled when this handshake is done.
    OkSimultaneous,
    /// Simultaneous connect, and our connection wins.
    Nok,
    /// Already connected: the handshake continues if the caller answers that the old connection is dead.
    Alive,
    /// Refused.
    NotAllowed,
}
