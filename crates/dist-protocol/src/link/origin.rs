//! Origin of an outgoing signal.

/// Origin of an outgoing signal: its cause. The link counts what the peer has caused wherever it waits, so that a peer that
/// does not read cannot make it grow without bound. Signals of this node's own processes are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A local process, which has waited for capacity, or a signal of a local process, such as a monitor.
    Process,
    /// A signal or request of the peer, which this one answers: also the end of a process that the peer monitors.
    Peer,
}
