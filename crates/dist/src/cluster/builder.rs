//! Configuration and start of a cluster node.

use std::any::Any;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use purlin::Node;
use purlin_dist_protocol::epmd::{self, Alive, Epmd, Failed, Kind, Registration};
use purlin_dist_protocol::handshake::LocalNode;
use purlin_dist_protocol::link::Settings;
use purlin_dist_protocol::{Cookie, Flags, Listener, NoCookie, NodeName, Transport};
use tokio::net::TcpListener;

use crate::cluster::builtin;
use crate::cluster::core::Core;
use crate::cluster::global::handle::Global;
use crate::cluster::handle::Cluster;
use crate::cluster::ids::Ids;
use crate::cluster::logs::Logs;
use crate::cluster::net_kernel::hosts::Hosts;
use crate::cluster::net_kernel::reach::Reach;
use crate::cluster::receive::incoming::start_link;
use crate::cluster::serving::supervisor::supervisors;

/// Default of [`Builder::observable_within`].
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// Configuration of a cluster node.
#[derive(Debug)]
#[must_use = "nothing happens before it is started"]
pub struct Builder {
    reach: Reach,
    cookie: Option<Cookie>,
    listen: Option<SocketAddr>,
    only_calls: bool,
    settings: Settings,
    observable: bool,
    answers_within: Duration,
    published: bool,
    logs: Option<Logs>,
}

impl Builder {
    fn new(name: NodeName) -> Self {
        let own = (Ipv4Addr::LOCALHOST, epmd::PORT).into();
        let (configured, port, nodes) = Default::default();
        let hosts = Hosts { us: name, own, configured, port, nodes };
        // It is replaced when the node starts.
        let (cookie, cookies) = (Cookie::new(""), HashMap::new());
        let reach = Reach { hosts, cookie, cookies, transport: Transport::Tcp };
        let (cookie, listen, settings, logs) = (None, None, Settings::default(), None);
        let (only_calls, observable, published) = (false, true, false);
        let answers_within = ANSWERS_WITHIN;
        Self {
            reach,
            cookie,
            listen,
            only_calls,
            settings,
            observable,
            answers_within,
            published,
            logs,
        }
    }

    /// Sets the cookie of the cluster. Default: the contents of the file `.erlang.cookie` in the user's home, as for
    /// `erl`.
    pub fn cookie(mut self, cookie: impl AsRef<[u8]>) -> Self {
        self.cookie = Some(Cookie::new(cookie));
        self
    }

    /// Sets the cookie for connections with `node` in either direction, as `erlang:set_cookie(Node, Cookie)` does.
    pub fn cookie_for(mut self, node: NodeName, cookie: impl AsRef<[u8]>) -> Self {
        self.reach.cookies.insert(node, Cookie::new(cookie));
        self
    }

    /// Sets the address of this node's epmd. Default: 127.0.0.1, port 4369. The epmds of other hosts are expected at
    /// the same port.
    pub fn epmd(mut self, address: SocketAddr) -> Self {
        self.reach.hosts.own = address;
        self
    }

    /// Sets the epmd address for `host`, as it is written in node names: for a host whose epmd has another port or is
    /// reached at another address.
    pub fn epmd_of(mut self, host: impl Into<String>, address: SocketAddr) -> Self {
        self.reach.hosts.configured.insert(host.into(), address);
        self
    }

    /// Uses no epmd: this node listens on `port`, and other nodes are expected on the same port of their hosts. BEAM
    /// nodes run with `-start_epmd false -erl_epmd_port PORT`. So a host, or an address of it, has one node.
    pub fn without_epmd(mut self, port: u16) -> Self {
        self.reach.hosts.port = Some(port);
        self
    }

    /// Sets the address of a node, which is then not looked up.
    pub fn node_at(mut self, node: NodeName, address: SocketAddr) -> Self {
        self.reach.hosts.nodes.insert(node, address);
        self
    }

    /// Sets the address to listen on. Default: any free port, or that of [`Builder::without_epmd`], on the address in the
    /// node's name if its host is an address, and on all addresses, IPv6 included, otherwise.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Makes the node outgoing-only: it does not listen and does not need an epmd. Erlang's `-dist_listen false`, with
    /// a name.
    pub fn only_calls(mut self) -> Self {
        self.only_calls = true;
        self
    }

    /// Uses TLS for all connections. BEAM nodes must run with `-proto_dist inet_tls`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: purlin_dist_protocol::Tls) -> Self {
        self.reach.transport = Transport::Tls(tls);
        self
    }

    /// Sets the tick time, and the limits for memory that peers can occupy.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Exports the functions by which BEAM tools inspect a node: `observer`, `etop`, and everything that calls
    /// `erlang:process_info` or `sys:get_state` by `rpc`. Default: `true`. A peer that knows the cookie can also kill
    /// processes through them, as in Erlang; it can do so without them, too.
    pub fn observable(mut self, observable: bool) -> Self {
        self.observable = observable;
        self
    }

    /// Sets the maximum wait for a local process that a remote tool inspects. Default: 500 ms. A process that has not
    /// answered by then is reported without the items that only it knows, and a request for its state returns
    /// `timeout`.
    pub fn observable_within(mut self, timeout: Duration) -> Self {
        self.answers_within = timeout;
        self
    }

    /// Makes the node published instead of hidden: all nodes of the cluster connect to it, `nodes()` of the BEAM lists
    /// it, and it takes part in `global`, so it knows the global names and can register some
    /// ([`Cluster::register_global`]).
    pub fn published(mut self) -> Self {
        self.published = true;
        self
    }

    /// Lets remote processes subscribe to this node's log; see [`Logs`].
    pub fn logs(mut self, logs: &Logs) -> Self {
        self.logs = Some(logs.clone());
        self
    }

    /// Joins the cluster. Must be called within a tokio runtime, which then drives the connections: the runtime of a
    /// process or any other.
    ///
    /// # Errors
    /// [`StartError`]: there is no cookie, epmd is unreachable, the name is taken, or the address cannot be bound.
    pub async fn start(self, node: &Node) -> Result<Cluster, StartError> {
        let Self { answers_within, published, logs, cookie, .. } = self;
        let Self { mut reach, listen, only_calls, settings, observable, .. } = self;
        reach.cookie = match cookie {
            Some(cookie) if cookie.is_empty() => return Err(StartError::EmptyCookie),
            Some(cookie) => cookie,
            None => Cookie::from_home()?,
        };
        if reach.cookies.values().chain([&reach.cookie]).any(Cookie::is_too_long) {
            return Err(StartError::CookieTooLong);
        }
        let (name, port) = (reach.hosts.us.clone(), reach.hosts.port);
        if port == Some(0) {
            return Err(StartError::NoPort);
        }
        if port.is_none() && reach.hosts.own.port() == 0 {
            return Err(StartError::NoEpmdPort);
        }
        let (socket, registration, creation) = if only_calls {
            (None, None, creation()?)
        } else if let Some(port) = port {
            let (socket, _) = bind(&name, listen, port).await?;
            (Some(socket), None, creation()?)
        } else {
            let (socket, address) = bind(&name, listen, 0).await?;
            let (alive, port) = (name.alive().to_owned(), address.port());
            let kind = if published { Kind::Normal } else { Kind::Hidden };
            let alive = Alive { alive, port, kind };
            let epmd = Epmd::at(reach.hosts.own);
            let registration = Registration::new(epmd, alive).await.map_err(StartError::Epmd)?;
            let creation = registration.creation();
            (Some(socket), Some(registration), creation)
        };
        let flags = Flags::OFFERED | if published { Flags::PUBLISHED } else { Flags::empty() };
        let local = LocalNode { name: name.clone(), creation, flags };
        let ids = Ids::new(node.clone(), name, creation);
        let core = Core::new(ids, local, reach, settings, answers_within, start_link);
        let layer: Weak<dyn Any + Send + Sync> = Arc::<Core>::downgrade(&core);
        node.set_layer(layer);
        core.calls();
        supervisors(&core);
        if observable {
            builtin::export(&core);
        }
        if published {
            let global = Global::start(&core).ok_or(StartError::Global)?;
            // No other reference to the core exists yet.
            let _ = core.global.set(global);
        }
        if let Some(logs) = logs {
            logs.export(&core);
        }
        let answer = |socket| core.runtime.spawn(Arc::clone(&core).answer(socket)).abort_handle();
        let answering = socket.map(answer);
        Ok(Cluster::new(core, answering, registration))
    }
}

impl Cluster {
    /// Returns the configuration of a node with that name.
    pub fn builder(name: NodeName) -> Builder {
        Builder::new(name)
    }
}

/// Binds the configured address, or the default for that name.
async fn bind(
    name: &NodeName,
    listen: Option<SocketAddr>,
    port: u16,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let host = name.host().parse::<IpAddr>().ok();
    let Some(at) = listen.or(host.map(|host| (host, port).into())) else {
        let all = (Ipv4Addr::UNSPECIFIED, port).into();
        return Listener::everywhere(port).map_err(|error| StartError::Listen(all, error));
    };
    Listener::bind(at).await.map_err(|error| StartError::Listen(at, error))
}

/// A random creation, for a node that is not registered with epmd. Values below four are reserved for old releases.
fn creation() -> Result<u32, StartError> {
    let random = getrandom::u32().map_err(|error| StartError::Random(error.to_string()))?;
    Ok(random.max(4))
}

/// Error of [`Builder::start`].
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No cookie was set, and the user's home has none.
    #[error("{0}; or set one with `Builder::cookie`")]
    NoCookie(#[from] NoCookie),
    /// Nodes without epmd share a port, which is not 0.
    #[error("`Builder::without_epmd` was given port 0: all nodes must know the port")]
    NoPort,
    /// An epmd has a port, which is not 0.
    #[error("`Builder::epmd` was given port 0: all nodes must know the port")]
    NoEpmdPort,
    /// The cookie that was set has no characters.
    #[error("`Builder::cookie` was given an empty cookie")]
    EmptyCookie,
    /// A cookie that was set has more than 255 characters, which no BEAM node accepts.
    #[error("`Builder::cookie` or `cookie_for` was given a cookie of more than 255 characters")]
    CookieTooLong,
    /// The address cannot be bound.
    #[error("cannot listen at {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// epmd is unreachable, or has another node registered under that name.
    #[error(transparent)]
    Epmd(Failed),
    /// The name `global_name_server` is taken, or the process limit is reached.
    #[error("`global` cannot be answered: the name global_name_server is taken")]
    Global,
    /// The system provides no random numbers.
    #[error("no random numbers: {0}")]
    Random(String),
}
