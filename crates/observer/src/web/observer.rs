//! Asking for the page, and being told where it is.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use purlin::{Builder, Node};
use purlin_ack::server::Watch;
use purlin_dist::cluster::Cluster;

use super::board::{Board, Opened};
use super::server::Running;
use super::site::Site;
use super::token::Token;
use crate::census::{PERIOD, supported};

/// The page of a node: how it is to be opened, and, once the node runs, where it is.
///
/// A clone is the same one. It shows one node: the first that is built with it.
///
/// ```
/// use purlin::Node;
/// use purlin_observer::{Observed, Observer};
///
/// # fn main() -> Result<(), purlin::BuildError> {
/// let observer = Observer::at(([127, 0, 0, 1], 0).into()).silent();
/// let node = Node::builder().observer(observer.clone()).build()?;
/// let url = observer.url().expect("the page is there as long as the node");
/// assert!(url.starts_with("http://127.0.0.1:"));
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Observer {
    address: SocketAddr,
    token: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) may_exit: bool,
    pub(crate) period: Duration,
    silent: bool,
    pub(crate) board: Arc<Board>,
}

impl fmt::Debug for Observer {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer")
            .field("address", &self.address)
            .field("may_exit", &self.may_exit)
            .finish_non_exhaustive()
    }
}

/// A node that can be seen in a browser.
pub trait Observed {
    /// Has the node serve a page that shows it. It is told once, on the standard error, where that page is,
    /// unless the [`Observer`] is silent; with the token, unless one was chosen.
    ///
    /// ```
    /// use purlin::Node;
    /// use purlin_observer::Observed;
    ///
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// let node = Node::builder().observer(([127, 0, 0, 1], 0)).build()?;
    /// # node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// COST: two threads, which rest while nobody looks.
    ///
    /// *Errors* come from [`Builder::build`], as [`purlin::BuildError::Io`]: the address is taken, or others
    /// could reach it and no token was chosen.
    fn observer(self, observer: impl Into<Observer>) -> Self;
}

impl Observed for Builder {
    fn observer(self, observer: impl Into<Observer>) -> Self {
        let observer = observer.into();
        self.attach(move |node| observer.open(node))
    }
}

impl<A: Into<SocketAddr>> From<A> for Observer {
    fn from(address: A) -> Self {
        Self::at(address.into())
    }
}

impl Observer {
    /// A page at that address; port 0 is any that is free. Who knows the token may look and nothing else.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        let (token, hosts, may_exit, silent) = Default::default();
        Self { address, token, hosts, may_exit, period: PERIOD, silent, board: Arc::default() }
    }

    /// The token that opens the page, instead of a random one: 22 to 256 letters, digits, `-` and `_`. An
    /// address that other machines can reach demands one, and wants something before it that speaks TLS.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Lets whoever knows the token send exit signals to processes.
    #[must_use]
    pub fn allow_exit(mut self, allowed: bool) -> Self {
        self.may_exit = allowed;
        self
    }

    /// A name by which the page may be opened, besides addresses and `localhost`.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Sets the sampling period while a watcher is connected: one second by default, from one millisecond to one hour.
    /// Warnings count samples, so a shorter period raises them sooner.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.period = supported(period);
        self
    }

    /// The program itself tells where the page is: [`Observer::url`].
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The address to open in a browser, with the token; `None` before the node has been built.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.board.opened.get().map(|opened| opened.url.as_str())
    }

    /// Where the page is served; `None` before the node has been built.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.board.opened.get().map(|opened| opened.address)
    }

    /// Shows the node's cluster too. The cluster is not kept.
    pub fn show_cluster(&self, cluster: &Cluster) {
        self.board.show_cluster(cluster.downgrade());
    }

    /// Shows a server that acknowledges too, under that name; one that had it is shown no more. The server,
    /// or its [`Door`](purlin_ack::server::Door), is not kept.
    ///
    /// In the metrics a name stands for one server: counters do not go backwards, so those of another with the same
    /// name stand still until it has done more than the first. Choose another name for another server.
    pub fn show_server(&self, name: impl Into<String>, server: impl Into<Watch>) {
        self.board.show_server(name.into(), server.into());
    }

    /// Opens the page of a node that has been started.
    fn open(&self, node: &Node) -> io::Result<Running> {
        let token = match &self.token {
            Some(chosen) => Token::chosen(chosen)?,
            None if self.address.ip().is_loopback() => Token::random()?,
            None => {
                let why = format!(
                    "the observer is not opened at {}, which other machines can reach, without a token of yours: \
                     choose one with Observer::token, or an address of 127.0.0.1",
                    self.address
                );
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
            }
        };
        let site = Site::new(node, self, token.clone())?;
        let running = Running::start(self.address, site, node.name())?;
        let address = running.address();
        let url = format!("http://{address}/#token={}", token.as_str());
        if self.board.opened.set(Opened { address, url: url.clone() }).is_err() {
            return Err(io::Error::other(
                "this observer shows another node already: make one for each",
            ));
        }
        if !self.silent {
            eprintln!("purlin: {} can be seen at {}", node.name(), self.told(address, &url));
        }
        Ok(running)
    }

    /// Where the page is, as the standard error is told. A token that was chosen is known to whoever chose it,
    /// and outlives the node, so it is not written where logs are kept.
    fn told(&self, address: SocketAddr, url: &str) -> String {
        match self.token {
            None => url.to_string(),
            Some(_) => format!("http://{address}/ with the token that was chosen"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Observer;

    const TOKEN: &str = "a-token-that-nobody-can-guess";

    fn observer() -> Observer {
        Observer::at(([127, 0, 0, 1], 4000).into())
    }

    #[test]
    fn a_chosen_token_is_not_printed_with_its_observer() {
        let printed = format!("{:?}", observer().token(TOKEN).allow_exit(true));
        assert_eq!(printed, "Observer { address: 127.0.0.1:4000, may_exit: true, .. }");
    }

    #[test]
    fn a_random_token_is_told_with_the_address_and_a_chosen_one_is_not() {
        let address = ([127, 0, 0, 1], 4000).into();
        let url = format!("http://127.0.0.1:4000/#token={TOKEN}");
        assert_eq!(observer().told(address, &url), url);
        assert_eq!(
            observer().token(TOKEN).told(address, &url),
            "http://127.0.0.1:4000/ with the token that was chosen"
        );
    }
}
