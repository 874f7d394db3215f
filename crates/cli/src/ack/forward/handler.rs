//! Handler of a forwarding server: passes the batches of one connection to the gateway and waits for its reply.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use purlin::{ExitReason, Pid};
use purlin_ack::handler::{Batch, Handler, Session, Unhandled};

use super::gateway::Mail;
use super::terms::Source;

/// Handler of one connection.
pub(in crate::ack) struct Forward {
    gateway: Pid<Mail>,
    connection: u64,
    peer: SocketAddr,
    /// Source of the last batch, with its session.
    source: Option<(Option<Session>, Arc<Source>)>,
}

impl Forward {
    pub(super) fn new(gateway: Pid<Mail>, connection: u64, peer: SocketAddr) -> Self {
        Self { gateway, connection, peer, source: None }
    }

    fn source(&mut self, session: Option<Session>) -> Arc<Source> {
        match &self.source {
            Some((known, source)) if *known == session => Arc::clone(source),
            _ => {
                let source = Arc::new(Source::new(self.connection, self.peer, session));
                self.source = Some((session, Arc::clone(&source)));
                source
            }
        }
    }
}

impl Handler for Forward {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let source = self.source(batch.session());
        let (bytes, order) = (batch.bytes().to_vec(), batch.order());
        let take = |reply| Mail::Take { bytes, order, source, reply };
        // WHY no timeout: the gateway gives up if the target is away; a slow target is allowed.
        match self.gateway.call_timeout(take, Duration::MAX).await {
            Ok(answer) => answer,
            Err(error) => Err(Unhandled::Failed(ExitReason::error(error))),
        }
    }
}
