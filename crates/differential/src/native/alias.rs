//! Aliases of the base processes, as addressed by the processes on purlin.

use purlin::{Alias, ExitReason};
use purlin_dist::cluster::Cluster;
use purlin_term::{Atom, Reference, Term};

use super::message::Msg;
use crate::language::{Tag, Who};

/// Alias of a base process.
pub(super) enum AliasOf {
    /// The process is on purlin.
    Here(Alias<Msg>),
    /// The process is on the BEAM.
    There(Cluster, Reference),
}

impl AliasOf {
    /// WHY the result of a send is ignored, here and below: no connection is cut in such a program.
    pub(super) async fn send(&self, from: Who, tag: Tag, priority: bool) {
        match self {
            Self::Here(alias) => {
                let message = Msg::Message(from, tag);
                if priority { alias.send_priority(message) } else { alias.send(message) }
            }
            Self::There(cluster, alias) => {
                let word = Term::Atom(Atom::from_static("message"));
                let message = Term::tuple([word, i64::from(from).into(), i64::from(tag).into()]);
                let _ = match priority {
                    true => cluster.send_priority_to_alias(alias, message).await,
                    false => cluster.send_to_alias(alias, message).await,
                };
            }
        }
    }

    pub(super) async fn exit(&self, reason: ExitReason, priority: bool) {
        match self {
            Self::Here(alias) if priority => alias.exit_priority(reason),
            Self::Here(alias) => alias.exit(reason),
            Self::There(cluster, alias) => {
                let _ = match priority {
                    true => cluster.exit_priority_to_alias(alias, reason).await,
                    false => cluster.exit_to_alias(alias, reason).await,
                };
            }
        }
    }
}
