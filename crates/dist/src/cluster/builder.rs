//! How a node joins a cluster.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use purlin::Node;
use tokio::net::TcpListener;
use tokio::runtime::Handle;

use super::core::Core;
use super::global::Global;
use super::ids::Ids;
use super::reach::Reach;
use super::{Cluster, Inner, Logs, builtin, serving};
use crate::cookie::Cookie;
use crate::epmd::{self, Alive, Epmd, Failed, Kind, Registration};
use crate::flags::Flags;
use crate::handshake::Local;
use crate::hosts::Hosts;
use crate::link::Settings;
use crate::listener::Listener;
use crate::name::NodeName;

/// The longest wait for a process that a tool asks about.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// What a node of a cluster is to be.
#[derive(Debug)]
#[must_use = "nothing happens before it is started"]
pub struct Builder {
    reach: Reach,
    listen: Option<SocketAddr>,
    only_calls: bool,
    settings: Settings,
    observable: bool,
    answers_within: Duration,
    published: bool,
    logs: Option<Logs>,
}

impl Builder {
    pub(super) fn new(name: NodeName) -> Self {
        let own = (Ipv4Addr::LOCALHOST, epmd::PORT).into();
        let hosts = Hosts { us: name, own, told: HashMap::new() };
        let (cookie, cookies) = (Cookie::new("nocookie"), HashMap::new());
        let reach = Reach { hosts, cookie, cookies, tls: None };
        let (listen, settings, logs) = (None, Settings::default(), None);
        let (only_calls, observable, published) = (false, true, false);
        let answers_within = ANSWERS_WITHIN;
        Self { reach, listen, only_calls, settings, observable, answers_within, published, logs }
    }

    /// The secret that all nodes of the cluster share.
    pub fn cookie(mut self, cookie: impl AsRef<[u8]>) -> Self {
        self.reach.cookie = Cookie::new(cookie);
        self
    }

    /// The secret that this node and that one share, whoever calls: Erlang's `erlang:set_cookie(Node, Cookie)`.
    pub fn cookie_for(mut self, node: NodeName, cookie: impl AsRef<[u8]>) -> Self {
        self.reach.cookies.insert(node, Cookie::new(cookie));
        self
    }

    /// Where the epmd of this node's host is: 127.0.0.1, port 4369, unless this says otherwise. The epmds of other
    /// hosts are looked for at that port of theirs.
    pub fn epmd(mut self, address: SocketAddr) -> Self {
        self.reach.hosts.own = address;
        self
    }

    /// Where the epmd of another host is, as it stands in names of its nodes: for one that has another port, or is
    /// reached by another address than its own.
    pub fn epmd_of(mut self, host: impl Into<String>, address: SocketAddr) -> Self {
        self.reach.hosts.told.insert(host.into(), address);
        self
    }

    /// Where others are to connect to: any port of the address that is the host of its name, or of all
    /// addresses, those for IPv6 included, unless this says otherwise.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Only calls other nodes: it does not listen, and no epmd has to be there for it. Erlang's
    /// `-dist_listen false`, with a name.
    pub fn only_calls(mut self) -> Self {
        self.only_calls = true;
        self
    }

    /// Talks over TLS, with all nodes; those of the BEAM run with `-proto_dist inet_tls`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::tls::Tls) -> Self {
        self.reach.tls = Some(tls);
        self
    }

    /// Tick time, and limits of what others may make this node keep.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Whether it has the functions with which tools of the BEAM look at a node: `observer`, `etop`, and whatever
    /// else asks for `erlang:process_info` or `sys:get_state` by `rpc`. It has unless this says otherwise.
    /// Whoever knows the cookie may also end a process by them, as in Erlang, and as without them.
    pub fn observable(mut self, observable: bool) -> Self {
        self.observable = observable;
        self
    }

    /// The longest wait for a process of this node that a tool of another node asks about, 500 ms by default. A process
    /// that has not answered by then is reported without what only it knows, and a request for its state is
    /// answered with `timeout`.
    pub fn observable_within(mut self, timeout: Duration) -> Self {
        self.answers_within = timeout;
        self
    }

    /// The node is not hidden but one that all nodes of the cluster connect to: `nodes()` of the BEAM shows it, and
    /// it takes part in `global`, whose names it then knows and can give
    /// ([`Cluster::register_global`]).
    pub fn published(mut self) -> Self {
        self.published = true;
        self
    }

    /// Lets processes elsewhere ask for what is logged here: [`Logs`] says how.
    pub fn logs(mut self, logs: &Logs) -> Self {
        self.logs = Some(logs.clone());
        self
    }

    /// Joins. Must be called within a tokio runtime, which then drives the connections: a process's own, or any.
    ///
    /// # Errors
    /// [`StartError`]: no epmd, the name is taken, or nobody can listen there.
    pub async fn start(self, node: &Node) -> Result<Cluster, StartError> {
        let Self { answers_within, published, logs, .. } = self;
        let Self { reach, listen, only_calls, settings, observable, .. } = self;
        let name = reach.hosts.us.clone();
        let (socket, registration, creation) = if only_calls {
            (None, None, creation()?)
        } else {
            let (socket, address) = bind(&name, listen).await?;
            let (alive, port) = (name.alive().to_owned(), address.port());
            let kind = if published { Kind::Normal } else { Kind::Hidden };
            let alive = Alive { alive, port, kind };
            let epmd = Epmd::at(reach.hosts.own);
            let registration = Registration::new(epmd, alive).await.map_err(StartError::Epmd)?;
            let creation = registration.creation();
            (Some(socket), Some(registration), creation)
        };
        let flags = Flags::OFFERED | if published { Flags::PUBLISHED } else { Flags::NONE };
        let local = Local { name: name.clone(), creation, flags };
        let ids = Ids::new(node.clone(), name, creation);
        let runtime = Handle::current();
        let core = Core::new(ids, local, reach, settings, answers_within, runtime.clone());
        core.calls();
        serving::supervisors(&core);
        if observable {
            builtin::export(&core);
        }
        if published {
            let global = Global::start(&core).ok_or(StartError::Global)?;
            // Nobody else has the core.
            let _ = core.global.set(global);
        }
        if let Some(logs) = logs {
            logs.export(&core);
        }
        let answering =
            socket.map(|socket| runtime.spawn(Arc::clone(&core).answer(socket)).abort_handle());
        let inner = Inner { core, answering, _registration: registration };
        Ok(Cluster { inner: Arc::new(inner) })
    }
}

/// Listens where it was said, or where others look for a node of that name.
async fn bind(
    name: &NodeName,
    listen: Option<SocketAddr>,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let host = name.host().parse::<IpAddr>().ok();
    let Some(at) = listen.or(host.map(|host| (host, 0).into())) else {
        let all = (Ipv4Addr::UNSPECIFIED, 0).into();
        return Listener::everywhere().map_err(|error| StartError::Listen(all, error));
    };
    Listener::bind(at).await.map_err(|error| StartError::Listen(at, error))
}

/// That of a node that no epmd has counted. Those below four are of nodes of old.
fn creation() -> Result<u32, StartError> {
    let random = getrandom::u32().map_err(|error| StartError::Random(error.to_string()))?;
    Ok(random.max(4))
}

/// Why a node did not join.
#[derive(Debug)]
pub enum StartError {
    /// Nobody can listen there.
    Listen(SocketAddr, io::Error),
    /// There is no epmd, or it knows another node of that name.
    Epmd(Failed),
    /// A process of the node has the name `global_name_server`, or there is no room for one more.
    Global,
    /// The system has no random numbers.
    Random(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(at, error) => write!(f, "cannot listen at {at}: {error}"),
            Self::Epmd(failed) => failed.fmt(f),
            Self::Global => {
                f.write_str("`global` cannot be answered: the name global_name_server is taken")
            }
            Self::Random(error) => write!(f, "no random numbers: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen(_, error) => Some(error),
            Self::Epmd(failed) => Some(failed),
            Self::Global | Self::Random(_) => None,
        }
    }
}
