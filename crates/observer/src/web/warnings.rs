//! Warnings endpoint. One task passes each census to the linter, independent of the number of clients.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::answer::Refusal;
use super::look::ns;
use super::processes::aside;
use super::site::Site;
use crate::census::Census;
use crate::warnings::{Linter, Warning};

/// Largest number of pids shown per warning. A deadlock may include every process.
const MOST_PIDS: usize = 100;

/// Warnings as of one census, in node uptime.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Number of the census.
    census: u64,
    at: Duration,
    warnings: Vec<Warning>,
}

#[derive(Serialize)]
pub(crate) struct Shown {
    kind: &'static str,
    pids: Vec<String>,
    text: String,
    advice: &'static str,
    for_ns: u64,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    warnings: Vec<Shown>,
}

impl Found {
    #[cfg(feature = "metrics")]
    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    pub(crate) fn shown(&self) -> Vec<Shown> {
        let shown = self.warnings.iter().map(|warning| {
            let pids = warning.subject.processes().iter().take(MOST_PIDS);
            Shown {
                kind: warning.kind.name(),
                pids: pids.map(ToString::to_string).collect(),
                text: warning.line.clone(),
                advice: warning.kind.advice(),
                for_ns: ns(self.at.saturating_sub(warning.since)),
            }
        });
        shown.collect()
    }
}

/// Passes each census to the linter, on the blocking thread.
pub(crate) async fn lint(site: &Site) {
    let mut censuses = site.sampler.subscribe();
    let mut linter = Linter::every(site.period);
    while censuses.changed().await.is_ok() {
        let census: Arc<Census> = Arc::clone(&censuses.borrow_and_update());
        let (census_number, at) = (census.number, census.overview.at);
        let looked = aside(site, move || {
            let warnings = linter.check(&census);
            (linter, warnings)
        });
        let Ok((same, warnings)) = looked.await else { return };
        linter = same;
        site.warnings.send_replace(Arc::new(Found { census: census_number, at, warnings }));
    }
}

/// Returns the warnings of that census or of a later one.
pub(crate) async fn latest(site: &Site, census: u64) -> Result<Arc<Found>, Refusal> {
    let mut found = site.warnings.subscribe();
    let seen = found.wait_for(|found| found.census >= census).await;
    seen.map(|seen| Arc::clone(&seen)).map_err(|_| Refusal::stopped())
}

pub(crate) async fn warnings(State(site): State<Arc<Site>>) -> Result<Json<Answer>, Refusal> {
    let census = site.census().await?.number;
    Ok(Json(Answer { warnings: latest(&site, census).await?.shown() }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use purlin::ProcessId;

    use super::{Found, MOST_PIDS};
    use crate::warnings::{Kind, Subject, Warning};

    #[test]
    fn a_long_deadlock_shows_only_its_first_pids() {
        let pids = (1..=1000).filter_map(|number| ProcessId::from_parts(number, 0, 1));
        let subject = Subject::Cycle(pids.collect());
        let (line, since) = (String::new(), Duration::ZERO);
        let warnings = vec![Warning { kind: Kind::CallCycle, subject, line, since }];
        let shown = Found { warnings, ..Found::default() }.shown();
        assert_eq!((shown[0].pids.len(), &*shown[0].pids[0]), (MOST_PIDS, "<0.1.0>"));
    }
}
