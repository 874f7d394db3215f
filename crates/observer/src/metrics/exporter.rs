//! Exporter from the `metrics` facade to Prometheus' text format.

use std::fmt;
use std::time::Duration;

use metrics::with_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use metrics_util::MetricKindMask;

use super::Recording;

/// Content type of a scrape response.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Time after which a gauge that is no longer updated, such as one of a departed node, is dropped
/// from scrapes.
const STALE: Duration = Duration::from_secs(1);

/// Prometheus exporter of a node's metrics with a private recorder. It neither contains metrics
/// that the program records elsewhere nor adds to them.
pub struct Exporter {
    recorder: PrometheusRecorder,
    recording: Recording,
}

impl Exporter {
    /// Creates an exporter for the node named `node`.
    #[must_use]
    pub fn new(node: &str) -> Self {
        let recorder = PrometheusBuilder::new()
            .with_recommended_naming(true)
            .idle_timeout(MetricKindMask::GAUGE, Some(STALE))
            .build_recorder();
        let recording = with_local_recorder(&recorder, || Recording::new(node));
        Self { recorder, recording }
    }

    /// Calls `record` to record the current values, then returns the response body of a scrape. Any
    /// thread may call it.
    #[must_use]
    pub fn scrape(&self, record: impl FnOnce(&Recording)) -> String {
        with_local_recorder(&self.recorder, || record(&self.recording));
        self.recorder.handle().render()
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").finish_non_exhaustive()
    }
}
