//! `purlin ack serve --forward`: forwards messages to a process on another node as Erlang terms.
//!
//! Used by `serve`. Connects two independent crates, the ack server and the cluster.
//!
//! | module | role |
//! |---|---|
//! | `handler` | connection side: passes batches to the gateway and waits |
//! | `gateway` | process between all connections and the other node |
//! | `in_flight` | queued and unconfirmed messages, and the credit; pure |
//! | `terms` | terms exchanged with the target; pure |

mod gateway;
mod handler;
mod in_flight;
mod terms;

use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use purlin::{CallError, Down, Node, Pid, Process};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_lab::error::Problem;

use self::gateway::{Gateway, Mail};
pub(super) use self::handler::Forward;
use self::in_flight::AckAfter;
use crate::cluster::{CookieOption, own_epmd};
use crate::output::{problem, with_counters};
use crate::values::{count, epmd_address, positive};

#[derive(Debug, Args)]
pub(super) struct Forwarding {
    /// Forward messages to the process with this registered name on this node
    #[arg(
        long,
        value_name = "NAME@NODE",
        help_heading = "To another node",
        conflicts_with = "handler"
    )]
    forward: Option<Target>,

    /// Set this node's name [default: gateway on the target node's host]
    #[arg(long, value_name = "NAME", help_heading = "To another node", requires = "forward", value_parser = str::parse::<NodeName>)]
    name: Option<NodeName>,

    /// Choose when to acknowledge: once messages are sent on, or once the process has confirmed them
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        help_heading = "To another node",
        requires = "forward",
        default_value = "confirmed"
    )]
    ack_after: AckAfter,

    /// Limit unconfirmed messages until the process sets another limit [default: 4096]
    #[arg(long, value_name = "N", help_heading = "To another node", requires = "forward", allow_negative_numbers = true, value_parser = count)]
    credit: Option<u32>,

    /// Wait this many seconds for an unavailable process before closing connections [default: 60]
    #[arg(long, value_name = "SECONDS", help_heading = "To another node", requires = "forward", allow_negative_numbers = true, value_parser = positive)]
    give_up_after: Option<f64>,

    #[command(flatten, next_help_heading = "To another node")]
    secret: CookieOption,

    /// Set the address of this machine's epmd [default: 127.0.0.1 and port 4369, or ERL_EPMD_PORT]
    #[arg(long, value_name = "ADDRESS", help_heading = "To another node", requires = "forward", value_parser = epmd_address)]
    epmd: Option<SocketAddr>,
}

/// A registered name and its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    name: String,
    node: NodeName,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give a process's name and its node, such as sink@shop@127.0.0.1".to_owned();
        let (name, node) =
            text.split_once('@').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
        Ok(Self { name: name.to_owned(), node: node.parse().map_err(|_| wrong())? })
    }
}

/// Handle of the gateway, shared by all connections.
#[derive(Clone)]
pub(super) struct GatewayRef {
    gateway: Pid<Mail>,
    connections: Arc<AtomicU64>,
    // The node leaves the cluster when the last handle is dropped.
    _cluster: Cluster,
}

impl Forwarding {
    /// Returns the target if `--forward` is given.
    pub(super) fn target(&self) -> Result<Option<&Target>, Problem> {
        if self.forward.is_none() && self.secret.is_given() {
            return Err(Problem::new("--cookie requires --forward"));
        }
        Ok(self.forward.as_ref())
    }

    /// Joins the cluster and starts the gateway.
    pub(super) async fn start(&self, to: &Target, node: &Node) -> Result<GatewayRef, Problem> {
        let (cookie, epmd) = (self.secret.cookie()?, self.epmd.map_or_else(own_epmd, Ok)?);
        let name = match &self.name {
            Some(name) => name.clone(),
            None => format!("gateway@{}", to.node.host()).parse().map_err(problem)?,
        };
        let builder = Cluster::builder(name).cookie(cookie).epmd(epmd);
        let cluster = builder.start(node).await.map_err(problem)?;
        cluster.receives_by(|term| terms::target_message(&term).map(Mail::Target));
        let process = cluster.named(&to.name, &to.node);
        let gateway = Gateway {
            cluster: cluster.clone(),
            name: format!("{}@{}", to.name, to.node),
            to: process
                .ok_or_else(|| Problem::new(format!("{:?} is not a valid name", to.name)))?,
            node: to.node.clone(),
            after: self.ack_after,
            credit: self.credit.unwrap_or(4096),
            give_up_after: self
                .give_up_after
                .map_or(Duration::from_secs(60), Duration::from_secs_f64),
        };
        let gateway = node.spawn(move |me| gateway.run(me));
        node.register("gateway", &gateway).map_err(problem)?;
        Ok(GatewayRef { gateway, connections: Arc::default(), _cluster: cluster })
    }
}

impl GatewayRef {
    /// Returns the handler of a new connection.
    pub(super) fn handler(&self, peer: SocketAddr) -> Forward {
        // ORDER: relaxed: only the uniqueness of the number matters.
        let connection = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        Forward::new(self.gateway.clone(), connection, peer)
    }

    /// Monitors the gateway process, which other nodes can end.
    pub(super) fn monitor(&self, me: &Process<Down>) {
        me.monitor(&self.gateway);
    }

    /// Waits until everything is confirmed, at most `within`. Returns the counters as one line.
    ///
    /// # Errors
    /// Fails if the gateway has ended.
    pub(super) async fn finish(&self, within: Duration) -> Result<String, CallError> {
        let finish = |reply| Mail::Finish(reply, within);
        let counts = self.gateway.call_timeout(finish, Duration::MAX).await?;
        let line = format!("forwarded: {} messages confirmed", counts.confirmed);
        let unconfirmed = u64::from(counts.unconfirmed);
        Ok(with_counters(line, &[(counts.again, "sent again"), (unconfirmed, "not confirmed")]))
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn the_first_at_sign_separates_the_name_from_the_node() {
        let to: Target = "Elixir.Shop.Sink@shop@127.0.0.1".parse().unwrap();
        assert_eq!((to.name.as_str(), to.node.as_str()), ("Elixir.Shop.Sink", "shop@127.0.0.1"));
        for wrong in ["sink", "sink@shop", "@shop@127.0.0.1", "sink@@h"] {
            assert!(wrong.parse::<Target>().unwrap_err().contains("such as sink@shop@127.0.0.1"));
        }
    }
}
