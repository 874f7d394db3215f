//! Stub of the metrics endpoint for builds without the feature `metrics`.

use super::answer::Refusal;

pub(crate) async fn metrics() -> Refusal {
    Refusal::gone("this program was built without the feature `metrics` of purlin-observer")
}
