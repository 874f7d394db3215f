//! Linter task: checks each snapshot once, independent of the number of clients.

use std::sync::Arc;

use super::site::{Found, Site};
use crate::snapshot::Snapshot;
use crate::warnings::Linter;
use crate::web::refusal::Refusal;

impl Site {
    /// Passes each snapshot to the linter, on the blocking thread.
    pub(crate) async fn lint(&self) {
        let mut snapshots = self.sampler.subscribe();
        let mut linter = Linter::every(self.settings.period);
        while snapshots.changed().await.is_ok() {
            let snapshot: Arc<Snapshot> = Arc::clone(&snapshots.borrow_and_update());
            let (number, at) = (snapshot.number, snapshot.overview.at);
            let checked = self.run_blocking(move || {
                let warnings = linter.check(&snapshot);
                (linter, warnings)
            });
            let Ok((same, warnings)) = checked.await else { return };
            linter = same;
            self.warnings.send_replace(Arc::new(Found { number, at, warnings }));
        }
    }

    /// Returns the warnings of that snapshot or of a later one.
    pub(crate) async fn warnings_of(&self, snapshot: u64) -> Result<Arc<Found>, Refusal> {
        let mut found = self.warnings.subscribe();
        let seen = tokio::select! {
            () = self.closed() => return Err(Refusal::stopped()),
            seen = found.wait_for(|found| found.number >= snapshot) => seen.map(|seen| Arc::clone(&seen)),
        };
        seen.map_err(|_| Refusal::stopped())
    }
}
