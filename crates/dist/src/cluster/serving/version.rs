//! Version of the calling `sys`: since OTP 26.1 it expects `{ok, State}`, before that the plain state. The request does
//! not contain the version, so the caller's node is asked for it by an `rpc:call`.

use std::sync::Arc;
use std::time::Duration;

use purlin_term::{Pid, Term};

use super::caller::Caller;
use crate::cluster::core::Core;

/// Timeout of that call.
const VERSION_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether `sys:get_state` on the caller's node expects `{ok, State}`. A node that does not answer is assumed to be an
/// old one, until the next request.
///
/// COST: one round trip per connection.
pub(super) async fn wraps_states(core: &Arc<Core>, caller: &Caller) -> bool {
    let connection = caller.connection(core);
    if let Some(known) = connection.as_ref().and_then(|known| known.wraps_states.get()) {
        return *known;
    }
    let Some(version) = stdlib_of(core, caller.pid()).await else { return false };
    let wraps = is_at_least_5_1(&version);
    connection.map_or(wraps, |connection| *connection.wraps_states.get_or_init(|| wraps))
}

/// The version of `stdlib` on a node.
async fn stdlib_of(core: &Arc<Core>, asker: &Pid) -> Option<String> {
    let (node, arguments) =
        (asker.node.as_str().parse().ok()?, ["stdlib", "vsn"].map(Term::atom).to_vec());
    let answer =
        core.rpc(&node, "application", "get_key", arguments, VERSION_TIMEOUT).await.ok()?;
    // `{ok, Version}`, or the atom `undefined`.
    purlin_term::from_term::<(Term, String)>(&answer).ok().map(|(_, version)| version)
}

fn is_at_least_5_1(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0_u32));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (5, 1)
}

#[cfg(test)]
mod tests {
    use super::is_at_least_5_1;

    #[test]
    fn versions_are_compared_by_number() {
        let all =
            [("4.2", false), ("5.0.2", false), ("5.1", true), ("5.10.1", true), ("6.0", true)];
        for (version, is_new) in all.into_iter().chain([("", false), ("new", false)]) {
            assert_eq!(is_at_least_5_1(version), is_new, "{version}");
        }
    }
}
