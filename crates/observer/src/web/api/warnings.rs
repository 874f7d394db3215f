//! Warnings endpoint.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::values::ns;
use crate::web::refusal::Refusal;
use crate::web::state::{Found, Site};

/// Largest number of pids shown per warning. A deadlock may include every process.
const MOST_PIDS: usize = 100;

/// One warning.
#[derive(Serialize)]
pub(crate) struct Shown {
    kind: &'static str,
    pids: Vec<String>,
    text: String,
    advice: &'static str,
    for_ns: u64,
}

/// Response of `/api/warnings`.
#[derive(Serialize)]
pub(crate) struct Answer {
    warnings: Vec<Shown>,
}

impl Found {
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

pub(crate) async fn warnings(State(site): State<Arc<Site>>) -> Result<Json<Answer>, Refusal> {
    let snapshot = site.snapshot().await?.number;
    Ok(Json(Answer { warnings: site.warnings_of(snapshot).await?.shown() }))
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
