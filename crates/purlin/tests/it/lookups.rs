//! Look-ups by name in a process, on a node from outside, and without a node.

use crate::common::{node, outside, stop};

use purlin::pg::Groups;
use purlin::server::ServerRef;
use purlin::supervisor::{ChildTemplate, DynamicSupervisorRef, SupervisorRef, SupervisorSpec};
use purlin::{LookupError, Name, Pid, Process, whereis};

#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[call]
    fn total(&self) -> i64 {
        self.0
    }
}

type Workers = DynamicSupervisorRef<(), Pid<()>>;

// N1: there is no current node on a thread that runs no process
#[test]
fn a_look_up_without_a_node_says_so() {
    assert_eq!(whereis::<()>("name"), Err(LookupError::NoNode));
    assert_eq!(ServerRef::<Counter>::whereis("name"), Err(LookupError::NoNode));
    assert_eq!(SupervisorRef::whereis("name"), Err(LookupError::NoNode));
    assert_eq!(Workers::whereis("name").map(drop), Err(LookupError::NoNode));
    assert_eq!(outside(Groups::find("name")).map(drop), Err(LookupError::NoNode));
    let text = LookupError::NoNode.to_string();
    assert!(text.starts_with("this thread runs no process"), "{text}");
}

// N1, N2: a node finds what is registered on it, from any thread
#[test]
fn a_node_looks_up_from_outside() {
    let node = node(1);
    let free = || LookupError::NoName(Name::from("name"));
    assert_eq!(node.server::<Counter>("name"), Err(free()));
    assert_eq!(node.supervisor("name"), Err(free()));
    assert_eq!(node.dynamic_supervisor::<(), Pid<()>>("name").map(drop), Err(free()));
    assert_eq!(outside(node.groups("name")).map(drop), Err(free()));

    outside(async {
        let idle = async |mut me: Process<()>, ()| me.receive().await;
        let workers = SupervisorSpec::simple_one_for_one(ChildTemplate::worker("idle", idle));
        let workers = workers.name("workers").start(&node).await.expect("it starts");
        let found: Workers = node.dynamic_supervisor("workers").expect("it is registered");
        assert_eq!(found.id(), workers.id());
        assert_eq!(node.supervisor("workers").map(|it| it.id()), Ok(workers.id()));
        assert!(found.start_child(()).await.is_ok());
        assert!(matches!(
            node.server::<Counter>("workers"),
            Err(LookupError::OtherType { id, .. }) if id == workers.id()
        ));

        let counter = node.start::<Counter>(Counter(7)).name("counter").await.expect("it starts");
        assert_eq!(node.server("counter"), Ok(counter));
        let task = tokio::spawn({
            let node = node.clone();
            async move { node.server::<Counter>("counter").expect("it is registered").total().await }
        });
        assert_eq!(task.await.expect("it does not panic"), Ok(7));
    });
    let scope = node.block_on(async |_: Process<()>| {
        let scope = Groups::start("scope").await.expect("it starts");
        let counter = ServerRef::<Counter>::whereis("counter").expect("it is registered");
        scope.join("counters", &counter).await.expect("the scope lives");
        scope
    });
    let found = outside(node.groups("scope")).expect("it is registered");
    assert_eq!(found.member_ids("counters"), scope.member_ids("counters"));
    stop(&node);
}
