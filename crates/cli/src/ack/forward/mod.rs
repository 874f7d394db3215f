//! `purlin ack serve --forward`: the messages go to a process of another node, in terms of Erlang.
//!
//! Used by `serve`. Joins the two siblings, servers that acknowledge and clusters, which know nothing
//! of each other.
//!
//! | module | role |
//! |---|---|
//! | `handler` | one connection's half: hands on what comes, and waits |
//! | `gateway` | the process between all connections and the other node |
//! | `under_way` | what waits, what is unconfirmed, and the credit; pure |
//! | `words` | what both nodes say, in terms; pure |

mod gateway;
mod handler;
mod under_way;
mod words;

use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use purlin::{Node, Pid};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_lab::error::Problem;

use self::gateway::{Gateway, Mail};
pub(super) use self::handler::Forward;
use self::under_way::AckAfter;
use crate::arguments::{count, positive};
use crate::cluster::{Secret, own_epmd, place};

#[derive(Debug, Args)]
pub(super) struct Forwarding {
    /// Hand the messages to a process of a node: its registered name, @, and the node's name
    #[arg(
        long,
        value_name = "NAME@NODE",
        help_heading = "To another node",
        conflicts_with = "handler"
    )]
    forward: Option<To>,

    /// What this node is called [default: gateway on the other node's host]
    #[arg(long, value_name = "NAME", help_heading = "To another node", requires = "forward", value_parser = str::parse::<NodeName>)]
    name: Option<NodeName>,

    /// When clients are told: once messages are sent on, or once the process has confirmed them
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        help_heading = "To another node",
        requires = "forward",
        default_value = "confirmed"
    )]
    ack_after: AckAfter,

    /// Messages that the process may have unconfirmed, until it says otherwise [default: 4096]
    #[arg(long, value_name = "N", help_heading = "To another node", requires = "forward", allow_negative_numbers = true, value_parser = count)]
    credit: Option<u32>,

    /// Seconds that messages wait for a process that is away, before their connections are closed
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", help_heading = "To another node", requires = "forward", allow_negative_numbers = true, value_parser = positive)]
    patience: Option<f64>,

    #[command(flatten, next_help_heading = "To another node")]
    secret: Secret,

    /// Where the epmd of this machine is [default: port 4369 of 127.0.0.1, or the one that
    /// ERL_EPMD_PORT says]
    #[arg(long, value_name = "ADDRESS", help_heading = "To another node", requires = "forward", value_parser = place)]
    epmd: Option<SocketAddr>,
}

/// A process by name, and its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct To {
    name: String,
    node: NodeName,
}

impl FromStr for To {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give a process's name and its node, such as sink@shop@127.0.0.1".to_owned();
        let (name, node) =
            text.split_once('@').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
        Ok(Self { name: name.to_owned(), node: node.parse().map_err(|_| wrong())? })
    }
}

/// The way to the other process, which all connections share.
#[derive(Clone)]
pub(super) struct Way {
    gateway: Pid<Mail>,
    connections: Arc<AtomicU64>,
    // Left when the last of them is gone.
    _cluster: Cluster,
}

impl Forwarding {
    /// Whether messages are to be forwarded, and to whom.
    pub(super) fn to(&self) -> Result<Option<&To>, Problem> {
        if self.forward.is_none() && self.secret.is_given() {
            return Err(Problem::new("--cookie is for --forward; say to whom"));
        }
        Ok(self.forward.as_ref())
    }

    /// Joins the cluster, and starts the gateway.
    pub(super) async fn begin(&self, to: &To, node: &Node) -> Result<Way, Problem> {
        let problem = |error: &dyn ToString| Problem::new(error.to_string());
        let (cookie, epmd) = (self.secret.cookie()?, self.epmd.map_or_else(own_epmd, Ok)?);
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                format!("gateway@{}", to.node.host()).parse().map_err(|error| problem(&error))?
            }
        };
        let builder = Cluster::builder(name).cookie(cookie).epmd(epmd);
        let cluster = builder.start(node).await.map_err(|error| problem(&error))?;
        cluster.receives_by(|term| words::said(&term).map(Mail::Said));
        let process = cluster.named(&to.name, &to.node);
        let gateway = Gateway {
            cluster: cluster.clone(),
            name: format!("{}@{}", to.name, to.node),
            to: process.ok_or_else(|| Problem::new(format!("{:?} is no name", to.name)))?,
            after: self.ack_after,
            credit: self.credit.unwrap_or(4096),
            patience: self.patience.map_or(Duration::from_secs(60), Duration::from_secs_f64),
        };
        let gateway = node.spawn(move |me| gateway.run(me));
        node.register("gateway", &gateway).map_err(|error| problem(&error))?;
        Ok(Way { gateway, connections: Arc::default(), _cluster: cluster })
    }
}

impl Way {
    /// The handler of a new connection.
    pub(super) fn of(&self, peer: SocketAddr) -> Forward {
        // ORDER: relaxed: a number that no other has, and nothing else.
        let connection = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        Forward::new(self.gateway.clone(), connection, peer)
    }

    /// Waits until all is confirmed, so long at most; what was done, in a line.
    pub(super) async fn finish(&self, within: Duration) -> Result<String, Problem> {
        let finish = |reply| Mail::Finish(reply, within);
        let told = self.gateway.call_timeout(finish, Duration::MAX).await;
        let counts = told.map_err(|error| Problem::new(error.to_string()))?;
        let mut line = format!("forwarded: {} messages confirmed", counts.confirmed);
        for (number, what) in
            [(counts.again, "sent again"), (u64::from(counts.unconfirmed), "not confirmed")]
        {
            if number > 0 {
                line += &format!(", {number} {what}");
            }
        }
        Ok(line + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::To;

    #[test]
    fn the_first_sign_parts_the_name_from_the_node() {
        let to: To = "Elixir.Shop.Sink@shop@127.0.0.1".parse().unwrap();
        assert_eq!((to.name.as_str(), to.node.as_str()), ("Elixir.Shop.Sink", "shop@127.0.0.1"));
        for wrong in ["sink", "sink@shop", "@shop@127.0.0.1", "sink@@h"] {
            assert!(wrong.parse::<To>().unwrap_err().contains("such as sink@shop@127.0.0.1"));
        }
    }
}
