//! How a node joins a cluster.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use purlin::Node;
use tokio::runtime::Handle;

use super::core::Core;
use super::ids::Ids;
use super::{Cluster, Inner, builtin, serving};
use crate::cookie::Cookie;
use crate::epmd::{self, Alive, Epmd, Failed, Kind, Registration};
use crate::flags::Flags;
use crate::handshake::Local;
use crate::link::Settings;
use crate::listener::Listener;
use crate::name::NodeName;

/// What a node of a cluster is to be.
#[derive(Debug)]
#[must_use = "nothing happens before it is started"]
pub struct Builder {
    name: NodeName,
    cookie: Cookie,
    epmd: SocketAddr,
    listen: SocketAddr,
    settings: Settings,
    observable: bool,
}

impl Builder {
    pub(super) fn new(name: NodeName) -> Self {
        let epmd = (Ipv4Addr::LOCALHOST, epmd::PORT).into();
        // Where others look for it, if its host is an address; else everywhere.
        let host = name.host().parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let cookie = Cookie::new("nocookie");
        Self {
            name,
            cookie,
            epmd,
            listen: (host, 0).into(),
            settings: Settings::default(),
            observable: true,
        }
    }

    /// The secret that all nodes of the cluster share.
    pub fn cookie(mut self, cookie: impl AsRef<[u8]>) -> Self {
        self.cookie = Cookie::new(cookie);
        self
    }

    /// Where epmd is: 127.0.0.1, port 4369, unless this says otherwise.
    pub fn epmd(mut self, address: SocketAddr) -> Self {
        self.epmd = address;
        self
    }

    /// Where others are to connect to: any port of the address that is the host of its name, or of all
    /// addresses, unless this says otherwise.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
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

    /// Joins. Must be called within a tokio runtime, which then drives the connections: a process's own, or any.
    ///
    /// # Errors
    /// [`StartError`]: no epmd, the name is taken, or nobody can listen there.
    pub async fn start(self, node: &Node) -> Result<Cluster, StartError> {
        let (socket, address) = Listener::bind(self.listen)
            .await
            .map_err(|error| StartError::Listen(self.listen, error))?;
        let epmd = Epmd::at(self.epmd);
        let (alive, port) = (self.name.alive().to_owned(), address.port());
        let alive = Alive { alive, port, kind: Kind::Hidden };
        let registration = Registration::new(epmd, alive).await.map_err(StartError::Epmd)?;
        let creation = registration.creation();
        let local = Local { name: self.name.clone(), creation, flags: Flags::OFFERED };
        let ids = Ids::new(node.clone(), self.name, creation);
        let runtime = Handle::current();
        let core = Core::new(ids, local, epmd, self.cookie, self.settings, runtime.clone());
        serving::supervisors(&core);
        if self.observable {
            builtin::export(&core);
        }
        let answering = runtime.spawn(std::sync::Arc::clone(&core).answer(socket)).abort_handle();
        let inner = Inner { core, answering, _registration: registration };
        Ok(Cluster { inner: std::sync::Arc::new(inner) })
    }
}

/// Why a node did not join.
#[derive(Debug)]
pub enum StartError {
    /// Nobody can listen there.
    Listen(SocketAddr, io::Error),
    /// There is no epmd, or it knows another node of that name.
    Epmd(Failed),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(at, error) => write!(f, "cannot listen at {at}: {error}"),
            Self::Epmd(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen(_, error) => Some(error),
            Self::Epmd(failed) => Some(failed),
        }
    }
}
