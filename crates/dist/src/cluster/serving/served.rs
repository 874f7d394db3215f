//! Registration of a server type: how remote requests are decoded.

use std::any::{TypeId, type_name};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use purlin::ExitReason;
use purlin::remote::LocalProcess;
use purlin::server::{Mail, Server, ServerRef};
use purlin_dist_protocol::frame::{NoValue, Unread};
use purlin_term::{Term, ValueError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::caller::Caller;
use super::sys;
use super::system::{State, System};
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::receive::decoders::Target;
use crate::cluster::rpc::gen_call::{GenCall, cast};

/// Decodes a term; an error states why it cannot be decoded.
type Read<T> = Box<dyn Fn(Term) -> Result<T, String> + Send + Sync>;
/// Decodes the request of a call into the server's call type, which takes the caller; an error returns the caller.
type ReadCall<T> =
    Box<dyn Fn(Unread<'_>, Caller) -> Result<T, Box<(NoValue, Caller)>> + Send + Sync>;
/// Converts a server's state to a term.
type Show<S> = Arc<dyn Fn(&S) -> Result<Term, String> + Send + Sync>;

/// How remote processes use servers of type `S`, for [`Cluster::serves`].
///
/// A state machine is the server [`Machine`](purlin::state_machine::Machine): a `Served<Machine<M>>` accepts
/// `gen_statem:call` and `cast`, which are the messages of `gen_server`.
///
/// Each kind of request is a type that `serde` decodes, and a function that converts it to the type the server uses
/// within the node. These functions should be short. Requests that are not registered are refused: a call exits
/// immediately with `{bad_call, Why}` if the caller monitors the server, a cast or a message is dropped and counted.
///
/// ```
/// use purlin::server::{self, Init, Mail, Next, Server};
/// use purlin::{Process, Reply};
/// use purlin_dist::cluster::Served;
/// use serde::Deserialize;
///
/// #[derive(Debug)]
/// struct Tickets(u32);
///
/// #[derive(Debug)]
/// enum Call { Left(Reply<u32>), Buy(u32, Reply<bool>) }
///
/// # impl Server for Tickets {
/// #     type Args = u32; type Call = Call; type Cast = u32;
/// #     type Info = (); type Continue = std::convert::Infallible;
/// #     async fn init(left: u32, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
/// #         Ok(Init::Ready(Tickets(left)))
/// #     }
/// # }
/// /// `gen_server:call(Tickets, left)` and `gen_server:call(Tickets, {buy, 3})`.
/// #[derive(Deserialize)]
/// #[serde(rename_all = "snake_case")]
/// enum Ask { Left, Buy(u32) }
///
/// let tickets = Served::<Tickets>::new()
///     .calls(|ask, caller| match ask {
///         Ask::Left => Call::Left(caller.reply()),
///         Ask::Buy(number) => Call::Buy(number, caller.reply()),
///     })
///     // gen_server:cast(Tickets, 5)
///     .casts(|printed: u32| printed)
///     // sys:get_state(Tickets)
///     .state(|tickets| tickets.0);
/// # let _ = tickets;
/// ```
#[must_use = "nothing is served before it is passed to the cluster"]
pub struct Served<S: Server> {
    calls: ReadCall<S::Call>,
    casts: Read<S::Cast>,
    infos: Read<S::Info>,
    state: Show<S>,
}

impl<S: Server> Served<S> {
    /// Creates a registration without requests. `sys` works, and shows the state as the binary of its `Debug` text.
    pub fn new() -> Self {
        fn nothing<T>(what: &'static str) -> impl Fn(Term) -> Result<T, String> {
            move |_| Err(format!("no {what} are accepted for it"))
        }
        Self {
            calls: Box::new(|_, caller| {
                let why = ValueError::Mismatch("no calls are accepted for it".to_owned());
                Err(Box::new((why.into(), caller)))
            }),
            casts: Box::new(nothing("casts")),
            infos: Box::new(nothing("messages")),
            state: Arc::new(|server| Ok(Term::from(format!("{server:?}").as_str()))),
        }
    }

    /// Accepts calls, from `gen_server:call`.
    pub fn calls<Q, F>(mut self, ask: F) -> Self
    where
        Q: DeserializeOwned + 'static,
        F: Fn(Q, Caller) -> S::Call + Send + Sync + 'static,
    {
        self.calls = Box::new(move |request, caller| match request.value() {
            Ok(question) => Ok(ask(question, caller)),
            Err(why) => Err(Box::new((why, caller))),
        });
        self
    }

    /// Accepts casts, from `gen_server:cast`.
    pub fn casts<Q, F>(mut self, cast: F) -> Self
    where
        Q: DeserializeOwned + 'static,
        F: Fn(Q) -> S::Cast + Send + Sync + 'static,
    {
        self.casts = Box::new(move |term| Ok(cast(read::<Q>(&term)?)));
        self
    }

    /// Accepts plain messages, from `Pid ! Message`.
    pub fn infos<Q, F>(mut self, send: F) -> Self
    where
        Q: DeserializeOwned + 'static,
        F: Fn(Q) -> S::Info + Send + Sync + 'static,
    {
        self.infos = Box::new(move |term| Ok(send(read::<Q>(&term)?)));
        self
    }

    /// Sets the representation of the state for `sys:get_state` and `observer`, instead of the `Debug` text. The server
    /// evaluates it between two messages.
    pub fn state<T, F>(mut self, show: F) -> Self
    where
        T: Serialize,
        F: Fn(&S) -> T + Send + Sync + 'static,
    {
        let shown = move |server: &S| {
            purlin_term::to_term(&show(server)).map_err(|error| error.to_string())
        };
        self.state = Arc::new(shown);
        self
    }

    /// Decodes a payload and sends the message to a server.
    fn take(&self, core: &Arc<Core>, to: Target<'_>, message: Unread<'_>) -> Result<(), NoValue> {
        if let Some((from, tag, request)) = message.gen_call() {
            return self.call(core, to, GenCall { from, tag, request: Term::NIL }, request);
        }
        let Some(term) = sys::take(core, &to, message.term()?) else { return Ok(()) };
        let mail = match GenCall::try_from(term) {
            // A compressed call.
            Ok(call) => {
                let request = call.request.encode().map_err(|error| other(error.to_string()))?;
                return self.call(core, to, call, Unread::whole(&request));
            }
            Err(term) => match cast(term) {
                Ok(cast) => Mail::Cast((self.casts)(cast).map_err(other)?),
                Err(term) => Mail::Info((self.infos)(term).map_err(other)?),
            },
        };
        send::<S>(to, mail)
    }

    fn call(
        &self,
        core: &Arc<Core>,
        to: Target<'_>,
        call: GenCall,
        request: Unread<'_>,
    ) -> Result<(), NoValue> {
        match (self.calls)(request, Caller::new(core, to.over, call)) {
            Ok(call) => send::<S>(to, Mail::Call(call)),
            Err(refused) => {
                let (why, caller) = *refused;
                let is_told = caller.refuse(tagged!("bad_call", why.to_string().as_str()));
                // A caller that gets the error has lost nothing.
                if is_told && matches!(why, NoValue::Other(_)) { Ok(()) } else { Err(why) }
            }
        }
    }
}

impl Cluster {
    /// Lets remote processes use all local servers of type `S`: with `gen_server:call` and `cast`, with plain messages,
    /// and with `sys`; see [`Served`].
    pub fn serves<S: Server>(&self, served: Served<S>) {
        let (core, own) = (self.core(), Arc::downgrade(self.core()));
        let shows = Arc::new(Shows(Arc::clone(&served.state)));
        core.systems.insert(TypeId::of::<Mail<S>>(), shows);
        let decode = move |to: Target<'_>, message: Unread<'_>| match own.upgrade() {
            Some(core) => served.take(&core, to, message),
            None => Err(other("the node has left the cluster".to_owned())),
        };
        core.decoders.add(TypeId::of::<Mail<S>>(), Arc::new(decode));
    }
}

fn send<S: Server>(to: Target<'_>, mail: Mail<S>) -> Result<(), NoValue> {
    to.send(mail).map_err(|error| other(error.to_string()))
}

fn other(why: String) -> NoValue {
    ValueError::Mismatch(why).into()
}

fn read<Q: DeserializeOwned>(term: &Term) -> Result<Q, String> {
    purlin_term::from_term(term).map_err(|error| error.to_string())
}

/// Functions for `sys` of one server type.
struct Shows<S: Server>(Show<S>);

impl<S: Server> System for Shows<S> {
    fn behaviour(&self) -> &'static str {
        S::BEHAVIOUR
    }

    fn state(&self, process: LocalProcess) -> State {
        let (server, show) = (process.pid::<Mail<S>>(), Arc::clone(&self.0));
        Box::pin(async move {
            let server = ServerRef::<S>::new(server.ok()?);
            // WHY no limit: the caller has its own, as in OTP.
            let shown = server.inspect_timeout(move |server| show(server), Duration::MAX);
            shown.await.ok()?.ok()
        })
    }

    fn stop(&self, process: LocalProcess, reason: ExitReason) {
        let Ok(server) = process.pid::<Mail<S>>() else { return };
        ServerRef::<S>::new(server).request_stop(reason);
    }
}

impl<S: Server> Default for Served<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Server> fmt::Debug for Served<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("server", &type_name::<S>()).finish_non_exhaustive()
    }
}
