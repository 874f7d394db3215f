//! Origin of an outgoing signal.

/// Origin of an outgoing signal: who has caused it, and whether it has waited for capacity. What was sent without waiting
/// for capacity is counted, so that a peer that does not read cannot make it grow without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A local process, which has waited for capacity.
    Process,
    /// An event of this node, such as the end of a process that the peer monitors.
    Event,
    /// A signal or request of the peer, which this one answers.
    Peer,
}
