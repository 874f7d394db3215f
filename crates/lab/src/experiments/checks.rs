//! Building blocks of the experiments' validity checks. Pure.

use super::experiment::{Invalid, Params};
use crate::contender::Reply;

/// Returns a parameter of the request; 0 if absent.
pub(super) fn asked(params: &Params, name: &str) -> u64 {
    params.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

/// Returns the number of repetitions of the set-up.
pub(super) fn reps(params: &Params) -> u64 {
    asked(params, "reps").max(1)
}

/// Checks the number of operations, and of messages or processes at both ends.
pub(super) fn conserved(reply: &Reply, ops: u64, messages: u64) -> Result<(), Invalid> {
    same("ops", reply.ops, ops)?;
    same("sent", reply.sent, messages)?;
    same("received", reply.received, messages)
}

/// Checks for n operations per repetition, each with one message or process at both ends.
pub(super) fn one_each(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    let n = asked(params, "n") * reps(params);
    conserved(reply, n, n)
}

/// Checks for n round trips, of two messages each, and for ascending percentiles of single ones.
pub(super) fn round_trips(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    let n = asked(params, "n");
    conserved(reply, n, 2 * n)?;
    in_order_if_told(reply)
}

/// Checks that an additional field has this value.
pub(super) fn extra(reply: &Reply, name: &str, due: u64) -> Result<(), Invalid> {
    same(name, found(reply, name)?, due)
}

/// Returns an additional field, which must be present.
pub(super) fn found(reply: &Reply, name: &str) -> Result<u64, Invalid> {
    reply.extra(name).ok_or_else(|| Invalid(format!("{name} is missing from the answer")))
}

/// Checks that the percentiles of single messages or round trips are complete, but for `p90_ns`,
/// and ascending.
pub(super) fn in_order(reply: &Reply) -> Result<(), Invalid> {
    let (median, most) = (found(reply, "p50_ns")?, found(reply, "p99_ns")?);
    let between = reply.extra("p90_ns").unwrap_or(median);
    if [median, between, most, found(reply, "max_ns")?].is_sorted() {
        return Ok(());
    }
    Err(Invalid("p50_ns, p90_ns, p99_ns and max_ns are not in order".to_owned()))
}

/// Like [`in_order`], but the percentiles may be absent.
pub(super) fn in_order_if_told(reply: &Reply) -> Result<(), Invalid> {
    let has_quantiles =
        ["p50_ns", "p99_ns", "max_ns"].iter().any(|name| reply.extra(name).is_some());
    if has_quantiles { in_order(reply) } else { Ok(()) }
}

/// Checks that a field has this value.
pub(super) fn same(name: &str, found: u64, due: u64) -> Result<(), Invalid> {
    if found == due { Ok(()) } else { Err(Invalid(format!("{name} is {found}, not {due}"))) }
}
