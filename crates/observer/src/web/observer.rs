//! Public interface: configuring the page and obtaining its address.

use std::fmt;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use purlin::{Builder, Node, Process};
use purlin_ack::server::Watch;
use purlin_dist::cluster::Cluster;

use super::routes::routes;
use super::server::Running;
use super::state::{Opened, Settings, Site};
use super::token::Token;
use crate::snapshot::supported;

/// Configuration of a node's page, and its address once the node runs.
///
/// Clones share one page. It shows one node: the first that is built with it.
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
    silent: bool,
    settings: Settings,
}

impl fmt::Debug for Observer {
    /// Omits the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer")
            .field("address", &self.address)
            .field("may_exit", &self.settings.may_exit)
            .finish_non_exhaustive()
    }
}

/// Extension trait of [`Builder`] that adds the observer's page.
pub trait Observed {
    /// Serves a page that shows the node. Its address is printed once to standard error, unless the [`Observer`] is
    /// silent. A random token is part of it; a token you chose is not printed.
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
    /// COST: two threads, which are parked while there is no watcher.
    ///
    /// *Errors* are returned by [`Builder::build`] as [`purlin::BuildError::Io`]: the address is in use, or it is
    /// reachable from other machines and no token was chosen.
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
    /// Serves the page at `address`; port 0 chooses a free port. A client with the token may only read.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        Self { address, token: None, silent: false, settings: Settings::default() }
    }

    /// Sets the token that opens the page, instead of a random one: 22 to 256 letters, digits, `-` and `_`. An address
    /// that other machines can reach requires one, and should be behind a TLS proxy.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Allows clients with the token to send exit signals to processes.
    #[must_use]
    pub fn allow_exit(mut self, allowed: bool) -> Self {
        self.settings.may_exit = allowed;
        self
    }

    /// Allows a host name for the page, in addition to addresses and `localhost`.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.settings.hosts.push(name.into());
        self
    }

    /// Sets the sampling period while a watcher is connected: one second by default, from one millisecond to one hour.
    /// Warnings count samples, so a shorter period raises them sooner.
    ///
    /// A request for figures waits for up to two periods if there has been no watcher recently, because utilization is
    /// measured between two samples: the first scrape of `/metrics`, and `purlin observe`, which waits for at most 30
    /// seconds. The sampler stays active for two periods after a request, and for at least three seconds.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.settings.period = supported(period);
        self
    }

    /// Prints nothing; the program can publish [`Observer::url`] itself.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Returns the address to open in a browser, with the token; `None` before the node is built.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.settings.board.opened.get().map(|opened| opened.url.as_str())
    }

    /// Returns the socket address of the page; `None` before the node is built.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.settings.board.opened.get().map(|opened| opened.address)
    }

    /// Shows the node's cluster. Only a weak reference is held.
    pub fn show_cluster(&self, cluster: &Cluster) {
        self.settings.board.show_cluster(cluster.downgrade());
    }

    /// Shows an ack server or a [`Door`](purlin_ack::server::Door) under `name`, replacing one of the same name. Only its
    /// counters are held: after it has stopped it remains on the page and in the metrics, with its last figures.
    ///
    /// In the metrics a name identifies one server: counters do not decrease, so those of a different server with the
    /// same name stay constant until they exceed the first server's. Choose another name for another server.
    pub fn show_server(&self, name: impl Into<String>, server: impl Into<Watch>) {
        self.settings.board.show_server(name.into(), server.into());
    }

    /// Configures a page that the program serves itself, with a chosen token: see [`Observer::router`].
    #[must_use]
    pub fn mounted(token: impl Into<String>) -> Self {
        Self::at(([127, 0, 0, 1], 0).into()).token(token).silent()
    }

    /// Returns the page and its API as a router, to be mounted in the program's own axum application. Call it once; the
    /// page shows this node.
    ///
    /// ```
    /// use axum::Router;
    /// use purlin::Node;
    /// use purlin_observer::Observer;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let node = Node::builder().build()?;
    /// let observer = Observer::mounted("0123456789-random-letters").host("shop.example");
    /// let app: Router = Router::new().nest_service("/observer", observer.router(&node)?);
    /// # drop(app);
    /// # node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Access control is that of a page with its own address: [`Observer::host`] allows the name of the site, and
    /// each request but those for static files needs the token. The limits of connections are those of the program's
    /// server. The page is not printed and has no [`Observer::url`]. When the node stops, event streams end and
    /// requests are answered with status 503, so that a graceful shutdown of the server completes.
    ///
    /// COST: the thread of the sampler, which is parked while there is no watcher, and a process of the node.
    ///
    /// # Errors
    /// Returns an error if no token was chosen, if it is guessable, or if no thread can be started.
    pub fn router(&self, node: &Node) -> io::Result<Router> {
        let Some(chosen) = &self.token else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an observer that is mounted in a router needs a token of yours: choose one with Observer::token",
            ));
        };
        let site = Arc::new(Site::new(node, self.settings.clone(), Token::chosen(chosen)?)?);
        let background = site.background();
        node.spawn(async move |_: Process<()>| background.await);
        Ok(routes(site))
    }

    /// Opens the page of a running node.
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
        let site = Site::new(node, self.settings.clone(), token.clone())?;
        let running = Running::start(self.address, site, node.name())?;
        let address = running.address();
        let url = format!("http://{address}/#token={}", token.as_str());
        if self.settings.board.opened.set(Opened { address, url: url.clone() }).is_err() {
            return Err(io::Error::other(
                "this observer shows another node already: make one for each",
            ));
        }
        if !self.silent {
            let url = self.printed_url(address, &url);
            // WHY the result is ignored: without a standard error the page is served nevertheless.
            let _ = writeln!(io::stderr(), "purlin: {} can be seen at {url}", node.name());
        }
        Ok(running)
    }

    /// Returns the address to print to standard error. A chosen token is known to its owner and outlives the node, so
    /// it must not end up in logs.
    fn printed_url(&self, address: SocketAddr, url: &str) -> String {
        match self.token {
            None => url.to_string(),
            Some(_) => format!("http://{address}/ with the token that was chosen"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Observer;

    const TOKEN: &str = "a-token-hard-to-guess-0123456789";

    fn observer() -> Observer {
        Observer::at(([127, 0, 0, 1], 4000).into())
    }

    #[test]
    fn a_chosen_token_is_not_part_of_the_debug_output() {
        let printed = format!("{:?}", observer().token(TOKEN).allow_exit(true));
        assert_eq!(printed, "Observer { address: 127.0.0.1:4000, may_exit: true, .. }");
    }

    #[test]
    fn a_random_token_is_printed_with_the_address_and_a_chosen_one_is_not() {
        let address = ([127, 0, 0, 1], 4000).into();
        let url = format!("http://127.0.0.1:4000/#token={TOKEN}");
        assert_eq!(observer().printed_url(address, &url), url);
        assert_eq!(
            observer().token(TOKEN).printed_url(address, &url),
            "http://127.0.0.1:4000/ with the token that was chosen"
        );
    }
}
