//! From the facade to Prometheus' text.

use std::fmt;

use metrics::with_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use purlin_ack::server::Counts;

use super::Recording;
use crate::census::Census;
use crate::warnings::Warning;

/// What a scrape is answered with is of this type.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

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
        let recorder = PrometheusBuilder::new().with_recommended_naming(true).build_recorder();
        let recording = with_local_recorder(&recorder, || Recording::new(node));
        Self { recorder, recording }
    }

    /// What a scrape is answered with; `servers` are those that acknowledge, by name. Any thread may ask.
    #[must_use]
    pub fn scrape(
        &self,
        census: &Census,
        warnings: &[Warning],
        servers: &[(String, Counts)],
    ) -> String {
        let recording = &self.recording;
        with_local_recorder(&self.recorder, || {
            recording.tell(census, warnings);
            servers.iter().for_each(|(name, counts)| recording.tell_server(name, counts));
        });
        self.recorder.handle().render()
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").finish_non_exhaustive()
    }
}
