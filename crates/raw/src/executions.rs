//! How the loom models are run, those of the crates above among them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every execution of `f`, up to a bound of preemptions in one execution.
pub fn model(f: impl Fn() + Sync + Send + 'static) {
    model_within(usize::MAX, f);
}

/// The same for a model that is large, up to a bound of its own.
pub fn model_within(bound: usize, f: impl Fn() + Sync + Send + 'static) {
    let asked = std::env::var("LOOM_MAX_PREEMPTIONS").ok().and_then(|text| text.parse().ok());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(bound.min(asked.unwrap_or(3)));
    let executions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&executions);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        f();
    });
    let executions = executions.load(Ordering::Relaxed);
    assert!(executions > 1, "nothing in this model meets anything else");
    println!("{executions} executions");
}
