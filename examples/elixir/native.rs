//! The shop's Rust node: one process, an abacus, under a supervisor.
//!
//! The Elixir application starts it as `shop_native NAME`, with the cookie in `SHOP_COOKIE`. It
//! prints `ready` when it can be called, and ends when its standard input is closed. It is called
//! with `GenServer.call`:
//!
//! | request | action | reply |
//! |---|---|---|
//! | `{:sum, numbers}` | adds the numbers | the sum |
//! | `{:book, numbers, ledger}` | adds them, and calls the process `ledger` with `{:add, sum}` | the ledger's reply |
//! | `:pid` | | its pid |
//! | `{:watch, pid}` | monitors the process; sends the caller `{:gone, reason}` when it has ended | `:ok` |
//! | `{:link, pid}` | links to the process | `:ok` |
//!
//! `GenServer.cast(abacus, :crash)` makes it crash.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::time::Duration;

use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Down, MonitorRef, Node, Pid, Process};
use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, GenCall};
use purlin_dist::epmd;
use purlin_term::Term;

/// Messages to the abacus.
enum Mail {
    Term(Term),
    Down(Down),
}

impl From<Down> for Mail {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
}

#[purlin::main]
async fn main(me: Process<()>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let name: NodeName = std::env::args().nth(1).ok_or("usage: shop_native NAME")?.parse()?;
    let cookie = std::env::var("SHOP_COOKIE")?;
    let port = std::env::var("ERL_EPMD_PORT").map_or(Ok(epmd::PORT), |port| port.parse())?;
    let joining = Cluster::builder(name).cookie(cookie).epmd(([127, 0, 0, 1], port).into());
    let cluster = joining.start(&Node::current().ok_or("this is a process")?).await?;
    cluster.receives_by(|term| Ok(Mail::Term(term)));

    let abacus = ChildSpec::worker("abacus", move |me| abacus(me, cluster));
    let tree = SupervisorSpec::one_for_one().intensity(100).child(abacus);
    let _tree = tree.start_link(&me).await?;
    println!("ready");
    // The Elixir application holds the other end of standard input.
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    Ok(())
}

async fn abacus(mut me: Process<Mail>, cluster: Cluster) {
    cluster.node().register("abacus", &me.pid()).expect("its predecessor has ended");
    let mut watched: HashMap<MonitorRef, Pid<Term>> = HashMap::new();
    loop {
        match me.receive().await {
            Mail::Down(down) => {
                if let Some(who) = watched.remove(&down.monitor) {
                    let reason = Term::from(down.reason.to_string().as_str());
                    who.send(Term::tuple([Term::atom("gone"), reason]));
                }
            }
            Mail::Term(term) => match GenCall::try_from(term) {
                Ok(call) => {
                    let reply = answer(&me, &cluster, &call, &mut watched).await;
                    cluster.reply(call, reply);
                }
                Err(cast) => assert!(!is_crash(&cast), "a bead fell off"),
            },
        }
    }
}

/// Returns whether the term is the cast `GenServer.cast(abacus, :crash)`.
fn is_crash(cast: &Term) -> bool {
    matches!(cast.as_tuple(), Some([tag, what]) if tag.is_atom("$gen_cast") && what.is_atom("crash"))
}

async fn answer(
    me: &Process<Mail>,
    cluster: &Cluster,
    call: &GenCall,
    watched: &mut HashMap<MonitorRef, Pid<Term>>,
) -> Term {
    let other = |pid: &Term| cluster.pid::<Term>(pid.as_pid()?);
    let ok = Some(Term::atom("ok"));
    let answer = match call.request.as_tuple() {
        None if call.request.is_atom("pid") => Some(Term::from(cluster.term_of(me.id()))),
        Some([what, numbers]) if what.is_atom("sum") => sum(numbers).map(Term::from),
        Some([what, numbers, ledger]) if what.is_atom("book") => {
            match (sum(numbers), other(ledger)) {
                (Some(sum), Some(ledger)) => {
                    let add = Term::tuple([Term::atom("add"), Term::from(sum)]);
                    cluster.call_pid::<Term>(ledger, add, Duration::from_secs(5)).await.ok()
                }
                _ => None,
            }
        }
        Some([what, pid]) if what.is_atom("watch") => other(pid).and_then(|pid| {
            watched.insert(me.monitor(&pid), cluster.pid(&call.from)?);
            ok
        }),
        Some([what, pid]) if what.is_atom("link") => other(pid).and_then(|pid| {
            me.link(&pid);
            ok
        }),
        _ => None,
    };
    answer.unwrap_or_else(|| Term::atom("badarg"))
}

/// Returns the sum of a list of integers; `None` if the term is not such a list or the sum
/// overflows.
fn sum(numbers: &Term) -> Option<i64> {
    let numbers = numbers.as_list()?.iter().map(Term::as_integer);
    numbers.into_iter().try_fold(0_i64, |sum, number| sum.checked_add(number?))
}
