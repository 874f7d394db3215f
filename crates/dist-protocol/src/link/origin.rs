//! Origin of an outgoing signal.

/// Origin of an outgoing signal: its cause, and whether it has waited for capacity. The link counts signals that have not
/// waited, so that a peer that does not read cannot make them grow without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A local process, which has waited for capacity.
    Process,
    /// An event of this node, such as the end of a process that the peer monitors.
    Event,
    /// A signal or request of the peer, which this one answers.
    Peer,
}
