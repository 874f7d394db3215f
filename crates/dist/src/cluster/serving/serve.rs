//! Servers whose declaration is their registration.

use purlin::server::Server;

use super::served::Served;

/// A server that remote processes use by the requests of its declaration. The attribute
/// `#[purlin::server(dist)]` implements it.
///
/// A request is an atom, or a tuple of an atom and the arguments, which `serde` decodes; a reply
/// becomes a term by `serde`.
///
/// ```
/// use purlin_dist::cluster::Serve;
///
/// #[derive(Debug)]
/// struct Counter(i64);
///
/// #[purlin::server(dist)]
/// impl Counter {
///     /// `gen_server:cast(Counter, {add, 5})`
///     #[cast]
///     fn add(&mut self, number: i64) {
///         self.0 += number;
///     }
///
///     /// `gen_server:call(Counter, total)`
///     #[call]
///     fn total(&self) -> i64 {
///         self.0
///     }
/// }
///
/// // For `Cluster::serves`; `sys:get_state(Counter)` returns the number.
/// let served = Counter::served().state(|counter| counter.0);
/// # let _ = served;
/// ```
pub trait Serve: Server {
    /// Returns the registration, for [`Cluster::serves`](crate::cluster::Cluster::serves). Infos
    /// are not in it: they come from the node itself.
    fn served() -> Served<Self>;
}
