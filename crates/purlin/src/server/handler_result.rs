//! Return types of the handlers of `#[purlin::server]`.

use std::error::Error;

use super::behaviour::{Init, Next, Result, Server};

/// Return type of a handler that does not return a reply.
#[diagnostic::on_unimplemented(
    message = "a handler without a reply cannot return `{Self}`",
    label = "not `()`, `Next<Self>` or a `Result` of these",
    note = "a `#[call]` replies with the value it returns, unless it takes a `Reply<T>`"
)]
pub trait HandlerResult<S: Server> {
    /// Returns the next step.
    fn into_next(self) -> Result<Next<S>>;
}

impl<S: Server> HandlerResult<S> for () {
    fn into_next(self) -> Result<Next<S>> {
        Ok(Next::Wait)
    }
}

impl<S: Server> HandlerResult<S> for Next<S> {
    fn into_next(self) -> Result<Next<S>> {
        Ok(self)
    }
}

impl<S, T, E> HandlerResult<S> for std::result::Result<T, E>
where
    S: Server,
    T: HandlerResult<S>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn into_next(self) -> Result<Next<S>> {
        self.map_err(Into::into)?.into_next()
    }
}

/// Return type of the `#[init]` of a server.
#[diagnostic::on_unimplemented(
    message = "an `#[init]` cannot return `{Self}`",
    label = "not `Self`, `Init<Self>` or a `Result` of these"
)]
pub trait InitResult<S: Server> {
    /// Returns the result of [`Server::init`].
    fn into_init(self) -> Result<Init<S>>;
}

impl<S: Server> InitResult<S> for S {
    fn into_init(self) -> Result<Init<S>> {
        Ok(Init::Ready(self))
    }
}

impl<S: Server> InitResult<S> for Init<S> {
    fn into_init(self) -> Result<Init<S>> {
        Ok(self)
    }
}

impl<S, T, E> InitResult<S> for std::result::Result<T, E>
where
    S: Server,
    T: InitResult<S>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn into_init(self) -> Result<Init<S>> {
        self.map_err(Into::into)?.into_init()
    }
}
