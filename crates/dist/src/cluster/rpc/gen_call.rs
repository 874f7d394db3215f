//! `gen_server:call` on the wire: `{'$gen_call', {From, Tag}, Request}`, answered by `{Tag, Reply}`; and
//! `gen_server:cast`: `{'$gen_cast', Request}`. And the message type of processes that call.

use std::convert::Infallible;

use purlin::{Down, Message};
use purlin_term::{Pid, Term};

/// A call from a remote process.
///
/// ```
/// use purlin_dist::cluster::GenCall;
/// use purlin_term::Term;
///
/// let call: Term = "{'$gen_call', {self, tag}, left}".parse()?;
/// let no_pid = GenCall::try_from(call).unwrap_err();
/// assert_eq!(no_pid.to_string(), "{'$gen_call',{self,tag},left}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GenCall {
    /// The caller.
    pub from: Pid,
    /// The tag that the answer carries.
    pub tag: Term,
    /// The request.
    pub request: Term,
}

impl TryFrom<Term> for GenCall {
    /// The term, if it is not a call.
    type Error = Term;

    fn try_from(term: Term) -> Result<Self, Term> {
        Self::marked("$gen_call", term)
    }
}

impl GenCall {
    /// Decodes `{Mark, {From, Tag}, Request}`; returns any other term as the error.
    pub(crate) fn marked(mark: &str, mut term: Term) -> Result<Self, Term> {
        if let Term::Tuple(parts) = &mut term
            && let [is, Term::Tuple(from), request] = &mut parts[..]
            && is.is_atom(mark)
            && let [Term::Pid(from), tag] = &mut from[..]
        {
            let [tag, request] = [tag, request].map(|part| std::mem::replace(part, Term::NIL));
            return Ok(Self { from: (**from).clone(), tag, request });
        }
        Err(term)
    }

    /// Encodes the call.
    pub(crate) fn into_term(self) -> Term {
        let from = Term::tuple([Term::from(self.from), self.tag]);
        tagged!("$gen_call", from, self.request)
    }
}

/// The request of a `gen_server:cast`; any other term is the error.
pub(crate) fn cast(mut term: Term) -> Result<Term, Term> {
    if let Term::Tuple(parts) = &mut term
        && let [mark, cast] = &mut parts[..]
        && mark.is_atom("$gen_cast")
    {
        return Ok(std::mem::replace(cast, Term::NIL));
    }
    Err(term)
}

/// Message type of a local process that calls remote servers; `J` is the type of its local messages.
#[derive(Debug, Message)]
pub(in crate::cluster) enum ClientMail<J = Infallible> {
    Term(Term),
    #[from]
    Down(Down),
    Job(J),
}
