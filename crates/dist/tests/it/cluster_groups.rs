//! Process groups shared with BEAMs: `pg` there, `purlin::pg` here.

use crate::processes::{beam_and_ours, beam_until, found, idler, join, join_published};
use std::time::Duration;

use crate::support::{Beam, Epmd, Ours, until};
use purlin::pg::Groups;
use purlin::{ExitReason, Pid, Process};
use purlin_dist::Flags;
use purlin_dist::cluster::{Cluster, NotShared};
use purlin_dist::control::{Control, Named};
use purlin_dist::frame::Signal;
use purlin_term::{Atom, Term};
use tokio::sync::oneshot;

/// Starts a scope on our node and shares its groups.
pub(crate) async fn scope(cluster: &Cluster, name: &'static str) -> Groups {
    let (sender, groups) = oneshot::channel();
    cluster.node().spawn(async move |_: Process<()>| {
        let _ = sender.send(Groups::start(name).await.expect("it starts"));
    });
    let groups = found(groups).await;
    cluster.share_groups::<Term>(name).await.expect("there is the scope");
    groups
}

/// Makes a local process join or leave a group.
async fn joins(
    cluster: &Cluster,
    groups: &Groups,
    group: &'static str,
    who: &Pid<Term>,
    in_it: bool,
) {
    let (sender, done) = oneshot::channel();
    let (groups, who) = (groups.clone(), who.clone());
    cluster.node().spawn(async move |_: Process<()>| {
        if in_it {
            groups.join(group, &who).await.expect("the scope is there");
        } else {
            assert!(groups.leave(group, &who).await.expect("the scope is there"));
        }
        let _ = sender.send(());
    });
    found(done).await;
}

fn members(groups: &Groups, group: &str) -> usize {
    groups.members::<Term>(group).len()
}

#[tokio::test]
async fn processes_of_ours_and_of_a_beam_join_one_group() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    beam.eval("{ok, _} = pg:start_link(), register(main, self()), pg:join(clerks, self())").await;
    let groups = scope(&cluster, "pg").await;
    let early = idler(&cluster);
    joins(&cluster, &groups, "clerks", &early, true).await;
    cluster.connect(&beam.name).await.expect("it is there");
    // Members that joined before the connection are exchanged.
    beam_until(&mut beam, "length(pg:get_members(clerks)) =:= 2").await;
    assert_eq!(beam.eval("pg:get_local_members(clerks) =:= [self()]").await, "true");
    until("both are known", || members(&groups, "clerks") == 2).await;
    // Later members too, and messages reach the members.
    let late = idler(&cluster);
    joins(&cluster, &groups, "{shop,7}", &late, true).await;
    beam_until(&mut beam, "length(pg:get_members({shop, 7})) =:= 1").await;
    beam.eval("pg:join({shop, 7}, [self(), self()])").await;
    until("twice", || members(&groups, "{shop,7}") == 3).await;
    groups.members::<Term>("{shop,7}").into_iter().for_each(|each| each.send(Term::atom("hello")));
    let got = beam.eval("[receive hello -> got end || _ <- [1, 2]]").await;
    assert_eq!(got, "[got,got]");
    // Members leave and end.
    assert_eq!(beam.eval("pg:leave({shop, 7}, self())").await, "ok");
    until("once", || members(&groups, "{shop,7}") == 2).await;
    joins(&cluster, &groups, "{shop,7}", &late, false).await;
    beam_until(&mut beam, "pg:get_members({shop, 7}) =:= [self()]").await;
    beam.eval("[P ! stop || P <- pg:get_members(clerks), P =/= self()]").await;
    assert_eq!(early.ended().await, ExitReason::Normal);
    beam_until(&mut beam, "pg:get_members(clerks) =:= [self()]").await;
    beam.eval("Q = spawn(fun() -> receive stop -> ok end end), pg:join(clerks, Q)").await;
    until("one more", || members(&groups, "clerks") == 2).await;
    beam.eval("Q ! stop").await;
    until("one less", || members(&groups, "clerks") == 1).await;
    // A local process that has ended does not stay a member.
    for _ in 0..100 {
        let short = idler(&cluster);
        short.send(Term::atom("stop"));
        joins(&cluster, &groups, "short", &short, true).await;
    }
    joins(&cluster, &groups, "last", &late, true).await;
    beam_until(&mut beam, "pg:get_members(last) =/= []").await;
    beam_until(&mut beam, "pg:get_members(short) =:= []").await;
}

#[tokio::test]
async fn groups_named_by_an_atom_and_by_a_number_with_its_text_are_two_groups() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let groups = scope(&cluster, "pg").await;
    let (of_number, of_atom) = (idler(&cluster), idler(&cluster));
    joins(&cluster, &groups, "7", &of_number, true).await;
    joins(&cluster, &groups, "'7'", &of_atom, true).await;
    let all = "{ok, _} = pg:start_link(), pg:join(7, self()), pg:join('7', [self(), self()])";
    beam.eval(all).await;
    cluster.connect(&beam.name).await.expect("it is there");
    beam_until(&mut beam, "length(pg:get_members(7)) =:= 2").await;
    beam_until(&mut beam, "length(pg:get_members('7')) =:= 3").await;
    until("all", || (members(&groups, "7"), members(&groups, "'7'")) == (2, 3)).await;
    assert_eq!(beam.eval("lists:sort(pg:which_groups())").await, "[7,'7']");
}

#[tokio::test]
async fn a_lost_node_has_no_members_and_a_reconnected_one_has_them_again() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let mut killed = Beam::start(&epmd, "killed").await;
    let cluster = join(&epmd, "ours").await;
    let groups = scope(&cluster, "shop").await;
    let own = idler(&cluster);
    joins(&cluster, &groups, "clerks", &own, true).await;
    for beam in [&mut beam, &mut killed] {
        beam.eval("{ok, _} = pg:start_link(shop), pg:join(shop, clerks, self())").await;
        cluster.connect(&beam.name).await.expect("it is there");
        beam_until(beam, "length(pg:get_members(shop, clerks)) >= 2").await;
    }
    until("all three", || members(&groups, "clerks") == 3).await;
    killed.kill().await;
    until("two", || members(&groups, "clerks") == 2).await;
    assert!(cluster.disconnect(&beam.name));
    until("own", || members(&groups, "clerks") == 1).await;
    beam_until(&mut beam, "pg:get_members(shop, clerks) =:= [self()]").await;
    cluster.connect(&beam.name).await.expect("it is there");
    until("both again", || members(&groups, "clerks") == 2).await;
    beam_until(&mut beam, "length(pg:get_members(shop, clerks)) =:= 2").await;
    // Their scope ends and another one is started: a hidden node has to discover it.
    beam.eval("unlink(whereis(shop)), exit(whereis(shop), kill)").await;
    until("own", || members(&groups, "clerks") == 1).await;
    // Our node leaves, and so do its members.
    beam_until(&mut beam, "whereis(shop) =:= undefined").await;
    beam.eval("{ok, _} = pg:start_link(shop), pg:join(shop, clerks, self())").await;
    beam_until(&mut beam, "length(pg:get_members(shop, clerks)) =:= 2").await;
    until("theirs", || members(&groups, "clerks") == 2).await;
    let _node = cluster.node().clone();
    drop(cluster);
    beam_until(&mut beam, "pg:get_members(shop, clerks) =:= [self()]").await;
    until("own", || members(&groups, "clerks") == 1).await;
    assert!(own.is_alive());
}

#[tokio::test]
async fn a_published_node_discovers_scopes_started_after_it_connected() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let cluster = join_published(&epmd, "ours").await;
    let groups = scope(&cluster, "pg").await;
    joins(&cluster, &groups, "clerks", &idler(&cluster), true).await;
    cluster.connect(&beam.name).await.expect("it is there");
    beam_until(&mut beam, "nodes() =:= ['ours@127.0.0.1']").await;
    beam.eval("{ok, _} = pg:start_link(), pg:join(clerks, self())").await;
    beam_until(&mut beam, "length(pg:get_members(clerks)) =:= 2").await;
    until("both", || members(&groups, "clerks") == 2).await;
}

#[tokio::test]
async fn our_nodes_share_their_groups() {
    let epmd = Epmd::start();
    let (one, two) = (join(&epmd, "one").await, join(&epmd, "two").await);
    let none = one.share_groups::<Term>("pg").await;
    assert!(matches!(none, Err(NotShared::NoScope(_))), "{none:?}");
    let (of_one, of_two) = (scope(&one, "pg").await, scope(&two, "pg").await);
    assert_eq!(one.share_groups::<Term>("pg").await, Err(NotShared::Shared));
    one.connect(two.name()).await.expect("it is there");
    let (first, second) = (idler(&one), idler(&two));
    joins(&one, &of_one, "clerks", &first, true).await;
    joins(&two, &of_two, "clerks", &second, true).await;
    until("each knows both", || [&of_one, &of_two].iter().all(|all| members(all, "clerks") == 2))
        .await;
    of_one.members::<Term>("clerks").into_iter().for_each(|each| each.send(Term::atom("stop")));
    assert_eq!(
        (first.ended().await, second.ended().await),
        (ExitReason::Normal, ExitReason::Normal)
    );
    until("nobody is left", || [&of_one, &of_two].iter().all(|all| members(all, "clerks") == 0))
        .await;
}

#[tokio::test]
async fn scopes_of_a_node_that_come_and_go_are_discovered_by_one_timer() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let _groups = scope(&cluster, "shop").await;
    let peer = Ours::start(&epmd, "peer").await;
    let mut connected = peer.call(cluster.name()).await;
    let shop = Atom::from_static("shop");
    for id in 1..=30 {
        let pid = peer.pid(id);
        let discover = Term::tuple([Term::atom("discover"), Term::from(pid.clone())]);
        let to = Control::RegSend { from: pid.clone(), to: shop.clone(), token: None };
        connected.send(to, Some(discover)).await;
        let (ours, reference) = loop {
            let control = connected.next().await.control;
            if let Control::Monitor { from, reference, .. } = control {
                break (from, reference);
            }
        };
        let (control, payload) =
            Control::down(Flags::OFFERED, Named::Pid(pid), ours, reference, Term::atom("noproc"));
        connected.send(control, payload).await;
    }
    let is_discovery = |signal: &Signal| match &signal.payload {
        Some(message) => message.as_tuple().is_some_and(|parts| parts[0].is_atom("discover")),
        None => false,
    };
    // WHY real time: the timers of the 30 scopes would send 30 messages in each second. A slow machine sends fewer.
    let mut discoveries = 0;
    let window = tokio::time::sleep(Duration::from_millis(3500));
    tokio::pin!(window);
    loop {
        tokio::select! {
            () = &mut window => break,
            signal = connected.signals.recv() => {
                discoveries += usize::from(is_discovery(&signal.expect("the connection stays")));
            }
        }
    }
    // At most one for the beginning and one for the end of each scope, and one in each second.
    assert!((1..=70).contains(&discoveries), "{discoveries}");
}
