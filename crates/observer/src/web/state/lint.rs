//! Linter task: checks each census once, independent of the number of clients.

use std::sync::Arc;

use super::site::{Found, Site};
use crate::census::Census;
use crate::warnings::Linter;
use crate::web::refusal::Refusal;

impl Site {
    /// Passes each census to the linter, on the blocking thread.
    pub(crate) async fn lint(&self) {
        let mut censuses = self.sampler.subscribe();
        let mut linter = Linter::every(self.settings.period);
        while censuses.changed().await.is_ok() {
            let census: Arc<Census> = Arc::clone(&censuses.borrow_and_update());
            let (census_number, at) = (census.number, census.overview.at);
            let looked = self.run_blocking(move || {
                let warnings = linter.check(&census);
                (linter, warnings)
            });
            let Ok((same, warnings)) = looked.await else { return };
            linter = same;
            self.warnings.send_replace(Arc::new(Found { census: census_number, at, warnings }));
        }
    }

    /// Returns the warnings of that census or of a later one.
    pub(crate) async fn warnings_of(&self, census: u64) -> Result<Arc<Found>, Refusal> {
        let mut found = self.warnings.subscribe();
        let seen = found.wait_for(|found| found.census >= census).await;
        seen.map(|seen| Arc::clone(&seen)).map_err(|_| Refusal::stopped())
    }
}
