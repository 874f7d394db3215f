//! Links and unlinks that cross, and lost connections, in random schedules of a local and a remote process.

use std::collections::VecDeque;
use std::sync::LazyLock;

use proptest::prelude::*;
use purlin::ProcessId;
use purlin::remote::{LocalProcess, RemoteSignal};
use purlin_term::{Atom, Pid};

use super::remote_links::{Linked, RemoteLinks};

/// Number of proxies of the remote process that the local process links to.
const PROXIES: usize = 2;

/// A process's end of a link, by the protocol of `purlin::signals::links` and of Erlang's distribution.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum End {
    #[default]
    Absent,
    Up,
    Unlinking(u64),
}

#[derive(Debug, Clone, Copy)]
enum Sent {
    Link,
    Unlink(u64),
    UnlinkAck(u64),
    /// The loss of the connection, to the local process.
    Lost(u64),
}

impl End {
    fn link(&mut self) -> Option<Sent> {
        let is_up = *self == Self::Up;
        *self = Self::Up;
        (!is_up).then_some(Sent::Link)
    }

    fn unlink(&mut self, id: u64) -> Option<Sent> {
        let is_up = *self == Self::Up;
        is_up.then(|| *self = Self::Unlinking(id)).map(|()| Sent::Unlink(id))
    }

    fn receive(&mut self, sent: Sent) -> Option<Sent> {
        match (sent, *self) {
            (Sent::Link, Self::Absent) => *self = Self::Up,
            (Sent::Unlink(id) | Sent::Lost(id), Self::Up) => {
                *self = Self::Absent;
                return Some(Sent::UnlinkAck(id));
            }
            (Sent::Unlink(id) | Sent::Lost(id), _) => return Some(Sent::UnlinkAck(id)),
            (Sent::UnlinkAck(id), Self::Unlinking(own)) if id == own => *self = Self::Absent,
            (Sent::Link | Sent::UnlinkAck(_), _) => {}
        }
        None
    }
}

/// A step of a schedule. What cannot be done has no effect.
#[derive(Debug, Clone, Copy)]
enum Step {
    LocalLinks(usize),
    LocalUnlinks(usize),
    RemoteLinks,
    RemoteUnlinks,
    /// The local process reads its oldest signal.
    LocalReads,
    /// A proxy handles the oldest signal of the local process to it.
    ProxyHandles(usize),
    /// The remote process reads its oldest signal.
    RemoteReads,
    /// The connection receives the oldest signal of the remote process.
    ConnectionReceives,
    /// The connection is lost, with all signals on it.
    ConnectionLost,
    /// Another connection is established.
    Connects,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let proxy = 0..PROXIES;
    let step = prop_oneof![
        proxy.clone().prop_map(Step::LocalLinks),
        proxy.clone().prop_map(Step::LocalUnlinks),
        Just(Step::RemoteLinks),
        Just(Step::RemoteUnlinks),
        Just(Step::LocalReads),
        proxy.prop_map(Step::ProxyHandles),
        Just(Step::RemoteReads),
        Just(Step::ConnectionReceives),
        Just(Step::ConnectionLost),
        Just(Step::Connects),
    ];
    prop::collection::vec(step, 0..80)
}

/// The two processes, the table with the link between them, and the signals in transit.
struct World<'a> {
    proxies: &'a [LocalProcess; PROXIES],
    links: RemoteLinks<()>,
    ours: ProcessId,
    theirs: Pid,
    connected: bool,
    /// Number of the last unlink of either process.
    number: u64,
    local: [End; PROXIES],
    remote: End,
    to_local: VecDeque<(usize, Sent)>,
    to_proxy: [VecDeque<Sent>; PROXIES],
    to_remote: VecDeque<Sent>,
    to_connection: VecDeque<Sent>,
}

impl<'a> World<'a> {
    fn new(proxies: &'a [LocalProcess; PROXIES]) -> Self {
        let node = Atom::from_static("b@h");
        let mut links = RemoteLinks::default();
        links.connect(node.clone(), ());
        Self {
            proxies,
            links,
            ours: proxies[0].id(),
            theirs: Pid { node, id: 1, serial: 0, creation: 1 },
            connected: true,
            number: 0,
            local: Default::default(),
            remote: End::default(),
            to_local: VecDeque::new(),
            to_proxy: Default::default(),
            to_remote: VecDeque::new(),
            to_connection: VecDeque::new(),
        }
    }

    fn number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn by(&self, proxy: &LocalProcess) -> usize {
        self.proxies.iter().position(|own| own.id() == proxy.id()).expect("a proxy")
    }

    fn deliver(&mut self, deliveries: Vec<(LocalProcess, RemoteSignal)>) {
        for (proxy, signal) in deliveries {
            let sent = match signal {
                RemoteSignal::Unlink(number) => Sent::Unlink(number),
                RemoteSignal::UnlinkAck(number) => Sent::UnlinkAck(number),
                other => unreachable!("{other:?}"),
            };
            self.to_local.push_back((self.by(&proxy), sent));
        }
    }

    fn proxy_handles(&mut self, by: usize) -> Option<()> {
        let (proxy, ours, theirs) = (self.proxies[by].clone(), self.ours, self.theirs.clone());
        match self.to_proxy[by].pop_front()? {
            Sent::Link => match self.links.link(ours, &theirs, proxy) {
                Linked::Send(()) => self.to_remote.push_back(Sent::Link),
                Linked::Lost(number) => self.to_local.push_back((by, Sent::Lost(number))),
                Linked::Nothing => {}
            },
            Sent::Unlink(id) => {
                let (connection, deliveries) = self.links.unlink(ours, &theirs, id, proxy);
                self.to_remote.extend(connection.map(|()| Sent::Unlink(id)));
                self.deliver(deliveries);
            }
            Sent::UnlinkAck(id) => self.links.local_acknowledged(ours, &theirs, id, proxy.id()),
            Sent::Lost(_) => unreachable!("only the table sends it"),
        }
        Some(())
    }

    fn connection_receives(&mut self) -> Option<()> {
        let (ours, theirs) = (self.ours, self.theirs.clone());
        match self.to_connection.pop_front()? {
            Sent::Link if self.links.linked(ours, &theirs, self.proxies[0].clone()) => {
                self.to_local.push_back((0, Sent::Link));
            }
            Sent::Link => {}
            Sent::Unlink(id) => {
                let deliveries = self.links.unlinked(ours, &theirs);
                self.deliver(deliveries);
                self.to_remote.push_back(Sent::UnlinkAck(id));
            }
            Sent::UnlinkAck(id) => self.links.remote_acknowledged(ours, &theirs, id),
            Sent::Lost(_) => unreachable!("only the table sends it"),
        }
        Some(())
    }

    /// Both nodes notice the loss; the remote process has no link any more.
    fn connection_lost(&mut self) {
        self.connected = false;
        self.to_remote.clear();
        self.to_connection.clear();
        self.remote = End::Absent;
        for (ours, proxy, number) in self.links.lose("b@h", |()| true) {
            assert_eq!(ours, self.ours);
            self.to_local.push_back((self.by(&proxy), Sent::Lost(number)));
        }
    }

    fn local_reads(&mut self) -> Option<()> {
        let (by, sent) = self.to_local.pop_front()?;
        self.to_proxy[by].extend(self.local[by].receive(sent));
        Some(())
    }

    fn remote_reads(&mut self) -> Option<()> {
        let sent = self.to_remote.pop_front()?;
        self.to_connection.extend(self.remote.receive(sent));
        Some(())
    }

    fn take(&mut self, step: Step) -> Option<()> {
        let number = self.number();
        match step {
            Step::LocalLinks(by) => self.to_proxy[by].extend(self.local[by].link()),
            Step::LocalUnlinks(by) => self.to_proxy[by].extend(self.local[by].unlink(number)),
            // Without a connection, a link of the remote process ends with `noconnection` immediately.
            Step::RemoteLinks if !self.connected => {}
            Step::RemoteLinks => self.to_connection.extend(self.remote.link()),
            Step::RemoteUnlinks => self.to_connection.extend(self.remote.unlink(number)),
            Step::LocalReads => return self.local_reads(),
            Step::ProxyHandles(by) => return self.proxy_handles(by),
            Step::RemoteReads => return self.remote_reads(),
            Step::ConnectionReceives => return self.connection_receives(),
            Step::ConnectionLost => self.connection_lost(),
            Step::Connects => {
                self.connected = true;
                self.links.connect(self.theirs.node.clone(), ());
            }
        }
        Some(())
    }

    /// Handles all that is in transit.
    fn settle(&mut self) {
        while self.local_reads().is_some()
            || self.remote_reads().is_some()
            || self.connection_receives().is_some()
            || (0..PROXIES).any(|by| self.proxy_handles(by).is_some())
        {}
    }
}

static PROXY_HANDLES: LazyLock<[LocalProcess; PROXIES]> = LazyLock::new(|| {
    let node = purlin::Node::builder().workers(1).build().expect("a node");
    [(); PROXIES].map(|()| LocalProcess::from(&node.spawn(async |_: purlin::Process<()>| ())))
});

// L2
#[test]
fn an_end_is_sent_once_and_not_after_an_unlink_of_the_peer() {
    let world = World::new(&PROXY_HANDLES);
    let ([first, second], mut links) = (&*PROXY_HANDLES, world.links);
    let (ours, theirs) = (world.ours, world.theirs);
    assert_eq!(links.link(ours, &theirs, first.clone()), Linked::Send(()));
    assert_eq!(links.link(ours, &theirs, second.clone()), Linked::Nothing, "it is up");
    assert_eq!(links.local_ended(ours, &theirs, first.id()), Some(()));
    let again = links.local_ended(ours, &theirs, second.id());
    assert_eq!(again, None, "it was sent for the other proxy");
    assert_eq!(links.len(), 0);
    assert_eq!(links.link(ours, &theirs, first.clone()), Linked::Send(()));
    let [(_, RemoteSignal::Unlink(number))] = links.unlinked(ours, &theirs)[..] else {
        panic!("one unlink")
    };
    let ended = links.local_ended(ours, &theirs, first.id());
    assert_eq!(ended, None, "the process had not read the unlink when it ended");
    links.local_acknowledged(ours, &theirs, number, first.id());
    assert_eq!(links.len(), 0);
}

// L1, L5: the acknowledgement of an unlink that was made before the loss of a connection arrives after it.
#[test]
fn an_acknowledgement_does_not_match_an_unlink_over_a_later_connection() {
    let World { mut links, ours, theirs, proxies: [proxy, _], .. } = World::new(&PROXY_HANDLES);
    let mut unlinked = || {
        assert!(links.linked(ours, &theirs, proxy.clone()));
        let [(_, RemoteSignal::Unlink(number))] = links.unlinked(ours, &theirs)[..] else {
            panic!("one unlink")
        };
        assert!(links.lose("b@h", |()| true).is_empty());
        links.connect(theirs.node.clone(), ());
        number
    };
    let numbers = [unlinked(), unlinked()];
    links.local_acknowledged(ours, &theirs, numbers[0], proxy.id());
    let request = links.link(ours, &theirs, proxy.clone());
    assert_eq!(request, Linked::Nothing, "the process removes its end when it reads the second");
    links.local_acknowledged(ours, &theirs, numbers[1], proxy.id());
    assert_eq!(links.len(), 0);
}

#[test]
fn a_node_that_has_left_stores_no_link_without_a_connection() {
    let World { mut links, ours, theirs, proxies: [proxy, other], .. } = World::new(&PROXY_HANDLES);
    assert_eq!(links.link(ours, &theirs, proxy.clone()), Linked::Send(()));
    links.leave();
    assert_eq!(links.len(), 1, "until the connection is lost");
    assert_eq!(links.lose("b@h", |()| true).len(), 1);
    assert_eq!(links.len(), 0);
    assert!(matches!(links.link(ours, &theirs, other.clone()), Linked::Lost(_)));
    assert_eq!(links.len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // L1, L2, L5
    #[test]
    fn both_ends_agree_whatever_links_and_unlinks_cross_or_are_lost(steps in steps()) {
        let proxies = &*PROXY_HANDLES;
        let mut world = World::new(proxies);
        for step in steps {
            world.take(step);
        }
        world.settle();
        let is_linked = world.local.contains(&End::Up);
        prop_assert_eq!(world.remote, if is_linked { End::Up } else { End::Absent });
        prop_assert!(!world.local.iter().any(|end| matches!(end, End::Unlinking(_))));
        // The exit signal of either process reaches the other.
        let exits = world.links.remote_ended(world.ours, &world.theirs);
        let exits: Vec<_> = exits.iter().map(LocalProcess::id).collect();
        let linked = (0..PROXIES).filter(|by| world.local[*by] == End::Up);
        let linked: Vec<_> = linked.map(|by| proxies[by].id()).collect();
        prop_assert_eq!(exits.len(), linked.len());
        prop_assert!(linked.iter().all(|proxy| exits.contains(proxy)));
        prop_assert_eq!(world.links.len(), 0, "nothing is kept");
    }
}
