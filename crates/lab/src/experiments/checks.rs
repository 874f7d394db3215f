//! The words in which the experiments say what an honest answer holds. Pure.

use super::{Params, Void};
use crate::contender::Reply;

/// A parameter that was sent; absent means 0.
pub(super) fn asked(params: &Params, name: &str) -> u64 {
    params.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

/// How often the set-up was repeated.
pub(super) fn reps(params: &Params) -> u64 {
    asked(params, "reps").max(1)
}

/// So many operations, and so many messages or processes at both ends.
pub(super) fn conserved(reply: &Reply, ops: u64, messages: u64) -> Result<(), Void> {
    same("ops", reply.ops, ops)?;
    same("sent", reply.sent, messages)?;
    same("received", reply.received, messages)
}

/// n operations as often as asked, each of one message or process at both ends.
pub(super) fn one_each(params: &Params, reply: &Reply) -> Result<(), Void> {
    let n = asked(params, "n") * reps(params);
    conserved(reply, n, n)
}

/// A figure beyond the four that must have this value.
pub(super) fn extra(reply: &Reply, name: &str, due: u64) -> Result<(), Void> {
    same(name, found(reply, name)?, due)
}

/// A figure beyond the four that must be there.
pub(super) fn found(reply: &Reply, name: &str) -> Result<u64, Void> {
    reply.extra(name).ok_or_else(|| Void(format!("{name} is missing from the answer")))
}

/// The times of single messages or trips, which are told whole and in order.
pub(super) fn in_order(reply: &Reply) -> Result<(), Void> {
    let (median, most) = (found(reply, "p50_ns")?, found(reply, "p99_ns")?);
    if median > most || most > found(reply, "max_ns")? {
        return Err(Void("p50_ns, p99_ns and max_ns are not in order".to_owned()));
    }
    Ok(())
}

/// The same where they may be left out.
pub(super) fn in_order_if_told(reply: &Reply) -> Result<(), Void> {
    let told = ["p50_ns", "p99_ns", "max_ns"].iter().any(|name| reply.extra(name).is_some());
    if told { in_order(reply) } else { Ok(()) }
}

/// A figure that must have this value.
pub(super) fn same(name: &str, found: u64, due: u64) -> Result<(), Void> {
    if found == due { Ok(()) } else { Err(Void(format!("{name} is {found}, not {due}"))) }
}
