//! What is there instead of metrics in a program that was built without them.

use super::answer::Refusal;

/// Makes nothing.
pub(crate) struct Exporter;

impl Exporter {
    pub(crate) fn new(_: &str) -> Self {
        Self
    }
}

pub(crate) async fn metrics() -> Refusal {
    Refusal::gone("this program was built without the feature `metrics` of purlin-observer")
}
