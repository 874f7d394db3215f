//! Trace points of a receive: pass a received message to [`RuntimeTypes::received`], the callback of
//! the layer above.
//!
//! Called in the turn of a traced process, by the receive. Sends by the callback, such as of a trace
//! event, are not traced themselves.

use std::ptr::NonNull;

use crate::RuntimeTypes;
use crate::inbox::header::{Envelope, Header};
use crate::process::context::without_trace;

/// [`traced`] for a message that has left the queue.
///
/// WHY it returns the header: the untraced path then need not preserve it across the call.
///
/// # Safety
/// The caller owns the header of a sealed envelope of an `M`.
#[cold]
#[inline(never)]
pub(super) unsafe fn traced_received<W: RuntimeTypes, M: Send + 'static>(
    header: NonNull<Header>,
) -> NonNull<Header> {
    // SAFETY: by the contract.
    traced::<W, M>(Some(unsafe { Envelope::<M>::peek(header) }));
    header
}

/// Calls [`RuntimeTypes::received`], with the message if it is still accessible.
#[cold]
#[inline(never)]
pub(super) fn traced<W: RuntimeTypes, M: Send + 'static>(message: Option<&M>) {
    without_trace(|| W::received(std::any::type_name::<M>(), message.map(|message| message as _)));
}
