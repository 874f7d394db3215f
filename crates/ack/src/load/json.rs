//! JSON report of a load, for programs. Pure.
//!
//! One object with `schema` 1. Readers must ignore unknown fields; the meaning of a field does not
//! change under the same schema. The name of a time ends with its unit.

use serde_json::{Value, json};

use super::report::level_name;
use super::summary::{Spread, Summary};

impl Summary {
    /// Returns the report as JSON.
    ///
    /// ```
    /// # async fn measured(load: purlin_ack::load::Load) {
    /// let found = load.summary().to_json();
    /// let per_second = found["per_second"]["median"].as_f64();
    /// # }
    /// ```
    #[must_use]
    pub fn to_json(&self) -> Value {
        let plan = &self.plan;
        let rounds = self.rounds.iter().map(|round| {
            json!({
                "messages": round.messages,
                "seconds": round.time.as_secs_f64(),
                "per_second": round.per_second(),
            })
        });
        let per_second = self.per_second().map(
            |Spread { median, low, high }| json!({ "median": median, "low": low, "high": high }),
        );
        json!({
            "schema": 1,
            "plan": {
                "strategy": plan.strategy.name(),
                "address": plan.address,
                "connections": plan.connections,
                "rounds": plan.rounds,
                "messages": plan.messages,
                "size": plan.size,
                "batch": plan.batch,
                "window": plan.window,
                "look_ms": plan.poll_interval.as_secs_f64() * 1e3,
                "nodelay": plan.nodelay,
                "session": plan.level.map(level_name),
                "tls": plan.tls.is_some(),
            },
            "messages": self.answered.messages,
            "refused": self.answered.refused,
            "answers": self.answered.answers,
            "rounds": rounds.collect::<Vec<_>>(),
            "per_second": per_second,
            "latency_ns": self.latency_json(),
            "failure": self.failure,
        })
    }

    /// Returns `None` if nothing was answered.
    fn latency_json(&self) -> Option<Value> {
        let latency = &self.latency;
        if latency.is_empty() {
            return None;
        }
        let buckets = latency.iter_recorded().map(|step| {
            json!({ "upto": step.value_iterated_to(), "count": step.count_since_last_iteration() })
        });
        Some(json!({
            "count": latency.len(),
            "min": latency.min(),
            "mean": latency.mean(),
            "p50": latency.value_at_quantile(0.5),
            "p90": latency.value_at_quantile(0.9),
            "p99": latency.value_at_quantile(0.99),
            "p999": latency.value_at_quantile(0.999),
            "max": latency.max(),
            "buckets": buckets.collect::<Vec<_>>(),
        }))
    }
}
