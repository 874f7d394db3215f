//! Links and unlinks that cross, in random schedules of a local and a remote process.

use std::collections::VecDeque;
use std::sync::LazyLock;

use proptest::prelude::*;
use purlin::remote::{LocalProcess, RemoteSignal};

use super::remote_link::RemoteLink;

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
            (Sent::Unlink(id), Self::Up) => {
                *self = Self::Absent;
                return Some(Sent::UnlinkAck(id));
            }
            (Sent::Unlink(id), _) => return Some(Sent::UnlinkAck(id)),
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
    ];
    prop::collection::vec(step, 0..60)
}

/// The two processes, the link between them, and the signals in transit.
struct World<'a> {
    proxies: &'a [LocalProcess; PROXIES],
    link: RemoteLink,
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
        Self {
            proxies,
            link: RemoteLink::default(),
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

    fn deliver(&mut self, deliveries: Vec<(LocalProcess, RemoteSignal)>) {
        for (proxy, signal) in deliveries {
            let by = self.proxies.iter().position(|own| own.id() == proxy.id()).expect("a proxy");
            let sent = match signal {
                RemoteSignal::Unlink(number) => Sent::Unlink(number),
                RemoteSignal::UnlinkAck(number) => Sent::UnlinkAck(number),
                other => unreachable!("{other:?}"),
            };
            self.to_local.push_back((by, sent));
        }
    }

    fn proxy_handles(&mut self, by: usize) -> Option<()> {
        let (proxy, number) = (self.proxies[by].clone(), self.number());
        match self.to_proxy[by].pop_front()? {
            Sent::Link if self.link.link(proxy.clone()) => self.to_remote.push_back(Sent::Link),
            Sent::Link => {}
            Sent::Unlink(id) => {
                let (sends, deliveries) = self.link.unlink(proxy, id, number);
                self.to_remote.extend(sends.then_some(Sent::Unlink(id)));
                self.deliver(deliveries);
            }
            Sent::UnlinkAck(id) => self.link.local_acknowledged(proxy.id(), id),
        }
        Some(())
    }

    fn connection_receives(&mut self) -> Option<()> {
        match self.to_connection.pop_front()? {
            Sent::Link if self.link.linked(self.proxies[0].clone()) => {
                self.to_local.push_back((0, Sent::Link));
            }
            Sent::Link => {}
            Sent::Unlink(id) => {
                let number = self.number();
                let deliveries = self.link.unlinked(number);
                self.deliver(deliveries);
                self.to_remote.push_back(Sent::UnlinkAck(id));
            }
            Sent::UnlinkAck(id) => self.link.remote_acknowledged(id),
        }
        Some(())
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
            Step::RemoteLinks => self.to_connection.extend(self.remote.link()),
            Step::RemoteUnlinks => self.to_connection.extend(self.remote.unlink(number)),
            Step::LocalReads => return self.local_reads(),
            Step::ProxyHandles(by) => return self.proxy_handles(by),
            Step::RemoteReads => return self.remote_reads(),
            Step::ConnectionReceives => return self.connection_receives(),
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
    let [first, second] = &*PROXY_HANDLES;
    let mut link = RemoteLink::default();
    assert!(link.link(first.clone()));
    assert!(!link.link(second.clone()), "the segment over the connection is up");
    assert!(link.local_ended(first.id()));
    assert!(!link.local_ended(second.id()), "it was sent for the other proxy");
    assert!(link.is_empty());
    assert!(link.link(first.clone()));
    assert_eq!(link.unlinked(1).len(), 1);
    assert!(!link.local_ended(first.id()), "the process had not read the unlink when it ended");
    link.local_acknowledged(first.id(), 1);
    assert!(link.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // L1, L5
    #[test]
    fn both_ends_agree_whatever_links_and_unlinks_cross(steps in steps()) {
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
        let exits: Vec<_> = world.link.remote_ended().iter().map(LocalProcess::id).collect();
        let linked = (0..PROXIES).filter(|by| world.local[*by] == End::Up);
        let linked: Vec<_> = linked.map(|by| proxies[by].id()).collect();
        prop_assert_eq!(exits.len(), linked.len());
        prop_assert!(linked.iter().all(|proxy| exits.contains(proxy)));
        prop_assert!(world.link.is_empty(), "nothing is kept");
    }
}
