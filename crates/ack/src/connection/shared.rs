//! State shared by the connections of a server.

use std::sync::Arc;
use std::time::Duration;

use super::counters::Counters;
use super::limits::Limits;
use super::sessions::Sessions;
use crate::tls::server::Tls;
use crate::wire::session::Level;

/// State shared by the connections of a server.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    /// Idle timeout: that of the limits, or the default of the strategy.
    pub(crate) idle_timeout: Duration,
    /// Acknowledgement level outside of sessions.
    pub(crate) level: Level,
    pub(crate) tls: Option<Tls>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) sessions: Arc<Sessions>,
}
