//! Integration tests, linked into one program.

mod beam;
#[cfg(feature = "tls")]
#[path = "support/certificates.rs"]
mod certificates;
mod client_libraries;
mod cluster;
mod cluster_ends;
mod cluster_groups;
mod cluster_order;
mod cluster_published;
mod cluster_reach;
mod discovery;
mod echo;
mod epmd;
mod example;
mod exhaustion;
mod forwarded;
mod hosts;
mod like_a_beam;
mod limits;
mod link;
#[path = "support/log.rs"]
mod log;
mod logs;
mod mutual;
mod node_monitors;
mod nodes;
mod observed;
mod own_node;
#[path = "support/pair.rs"]
mod pair;
mod pids;
mod ping;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
mod refused;
mod served;
mod served_large;
mod served_machine;
mod spawned;
mod strangers;
mod support;
#[path = "support/ticks.rs"]
mod ticks;
#[cfg(feature = "tls")]
mod tls;
