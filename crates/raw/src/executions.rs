//! Runner for the loom models of this crate and of the crates above.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs every execution of `f` up to a bound on preemptions per execution.
pub fn model(f: impl Fn() + Sync + Send + 'static) {
    model_within(usize::MAX, f);
}

/// As [`model`], with an additional bound for a large model.
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
