//! From the facade to Prometheus' text.

use std::fmt;
use std::time::Duration;

use metrics::with_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use metrics_util::MetricKindMask;

use super::Recording;

/// What a scrape is answered with is of this type.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// How long a gauge that is not told any more, of a node that has gone, is still scraped.
const STALE: Duration = Duration::from_secs(1);

/// A node's metrics as Prometheus reads them, with a recorder of their own: what the program itself
/// records elsewhere is not in it, and nothing of it there.
pub struct Exporter {
    recorder: PrometheusRecorder,
    recording: Recording,
}

impl Exporter {
    /// For a node of that name.
    #[must_use]
    pub fn new(node: &str) -> Self {
        let recorder = PrometheusBuilder::new()
            .with_recommended_naming(true)
            .idle_timeout(MetricKindMask::GAUGE, Some(STALE))
            .build_recorder();
        let recording = with_local_recorder(&recorder, || Recording::new(node));
        Self { recorder, recording }
    }

    /// What a scrape is answered with, when `tell` has told what there is. Any thread may ask.
    #[must_use]
    pub fn scrape(&self, tell: impl FnOnce(&Recording)) -> String {
        with_local_recorder(&self.recorder, || tell(&self.recording));
        self.recorder.handle().render()
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").finish_non_exhaustive()
    }
}
