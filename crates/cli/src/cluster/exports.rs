//! Echo process and exported functions of a `purlin node`.

use purlin::{Process, ProcessInfo};
use purlin_dist::cluster::{Cluster, GenCall, WeakCluster};
use purlin_lab::error::Problem;
use purlin_term::{Atom, Pid, Term};

use crate::output::problem;

/// Module name of the exported functions.
const MODULE: &str = "purlin";

/// Starts the echo process and exports the functions.
pub(super) fn export_all(cluster: &Cluster) -> Result<(), Problem> {
    let (node, echoes) = (cluster.node().clone(), cluster.downgrade());
    let process = node.spawn(async move |me| echo(me, &echoes).await);
    node.register("echo", &process).map_err(problem)?;
    let echo = async |mut arguments: Vec<Term>| Ok(arguments.pop().unwrap_or(Term::NIL));
    cluster.export(MODULE, "echo", 1, echo).map_err(problem)?;
    // WHY not the cluster itself: an exported function holding the cluster would keep it alive
    // forever.
    let own = cluster.term_of(process.id());
    let processes = move |_| {
        let (node, own) = (node.clone(), own.clone());
        async move { Ok(Term::list(node.processes().iter().map(|process| process_map(process, &own)))) }
    };
    cluster.export(MODULE, "processes", 0, processes).map_err(problem)
}

/// Replies to every message that contains its sender, until the node leaves the cluster.
async fn echo(mut me: Process<Term>, cluster: &WeakCluster) {
    loop {
        let message = me.receive().await;
        let Some(cluster) = cluster.upgrade() else { return };
        let own = Term::from(cluster.term_of(me.id()));
        match GenCall::try_from(message) {
            Ok(call) => {
                let what = call.request.clone();
                cluster.reply(call, what);
            }
            Err(message) => {
                if let Some([Term::Pid(from), what]) = message.as_tuple()
                    && let Some(from) = cluster.pid::<Term>(from)
                {
                    from.send(Term::tuple([own, what.clone()]));
                }
            }
        }
    }
}

/// Returns a process as a map. `own` is any pid of this node.
fn process_map(process: &ProcessInfo, own: &Pid) -> Term {
    let pid = Pid { id: process.id.id(), serial: process.id.serial(), ..own.clone() };
    let name = process.name.as_deref().and_then(|name| Atom::new(name).ok());
    Term::map([
        (Term::atom("pid"), Term::from(pid)),
        (Term::atom("name"), name.map_or(Term::atom("undefined"), Term::Atom)),
        (Term::atom("function"), Term::from(process.function)),
        (Term::atom("messages"), Term::from(process.mailbox_len)),
        (Term::atom("memory"), Term::from(process.memory)),
    ])
}
