//! Strategies: six ways to read and acknowledge messages.
//!
//! [`Strategy::Best`] is the one to use; the five classic strategies reproduce the experiments
//! on which this crate is based, with their intended performance. Each strategy is a function that
//! serves a connection and returns its close reason.
//!
//! | module | role |
//! |---|---|
//! | `kind` | names, ports and byte orders |
//! | `best` | reads what is available, in large reads; acknowledges each batch; supports sessions |
//! | `session_handshake` | start of a connection of `best` |
//! | `classic` | the strategies of 2015 |
//! | `handle_batch` | shared code: passes a batch to the handler and adds the pending acks |
//! | `run` | selects the strategy of a connection |

mod best;
mod classic;
mod handle_batch;
mod kind;
mod run;
mod session_handshake;

pub use self::kind::{Strategy, UnknownStrategy};
pub(crate) use self::run::run;
