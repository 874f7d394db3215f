//! What is there instead of metrics in a program that was built without them.

use super::answer::Refusal;

pub(crate) async fn metrics() -> Refusal {
    Refusal::gone("this program was built without the feature `metrics` of purlin-observer")
}
