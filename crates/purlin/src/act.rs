//! Signal handling: what a process does with each signal that it takes out of its inbox.
//!
//! A process handles signals in its own turn, in the order of arrival, whether it receives or not.
//! A signal that becomes a message takes the signal's position among the messages (M2). The user's
//! conversion of a [`Down`] or an [`Exit`] into a message runs here; its panic ends the process.

use std::sync::atomic::Ordering;

use purlin_raw::{Erased, Owner, Sealed, Turned, exhaust, is_traced, quietly, trace};

use crate::exit::catch;
use crate::home::{Erlang, here};
use crate::local::{Local, OfDown, OfEvent, OfExit, Origin};
use crate::pg::Event;
use crate::signal::{Signal, answer_as_ended, tell};
use crate::trace::hooks;
use crate::{Down, Exit, ExitReason, ProcessId, body};

/// Handles a signal and returns what it became.
///
/// WHY: two functions, because nearly all signals are down signals and link exits. These are
/// handled inline, where they are taken out of the inbox.
#[inline]
pub(crate) fn act<M: Send + 'static>(me: &Owner<Erlang, M>, signal: Signal) -> Turned<M> {
    if is_traced() {
        hooks::acts(&signal);
    }
    match signal {
        Signal::Down { reference, reason } => {
            let (monitoring, convert) = keep(me, |local| {
                let rare = local.rare();
                // L7: a process that is about to end receives nothing more.
                (rare.monitors.remove(reference), rare.down.filter(|_| rare.exit.is_none()))
            });
            let (Some(monitoring), Some(convert)) = (monitoring, convert) else {
                // The monitor was removed (D3), or the process is about to end.
                quietly(|| drop(reason));
                return Turned::Nothing;
            };
            turned::<M, Down>(me, || typed::<OfDown<M>>(convert)(reference, monitoring, reason))
        }
        Signal::LinkExit { from, reason } => {
            let link = keep(me, |local| local.rare().links.remove(from));
            if link.is_some_and(|link| link.is_up()) {
                return struck(me, Some(from), reason, Origin::Link);
            }
            quietly(|| drop(reason));
            Turned::Nothing
        }
        signal => act_on_another(me, signal),
    }
}

/// [`act`] for the other kinds of signal.
#[cold]
#[inline(never)]
fn act_on_another<M: Send + 'static>(me: &Owner<Erlang, M>, signal: Signal) -> Turned<M> {
    match signal {
        Signal::Exit { from, reason } => {
            let by = match from {
                Some(sender) if sender == id(me) => Origin::Itself,
                None if is_stopping() => Origin::Stop,
                _ => Origin::Other,
            };
            struck(me, from, reason, by)
        }
        Signal::TellAtEnd(watch) => {
            keep(me, |local| local.tell_at_end(watch));
            Turned::Nothing
        }
        Signal::Named => {
            keep(me, |local| local.rare().named = true);
            Turned::Nothing
        }
        Signal::Follow(book) => {
            trace(true);
            let before = keep(me, |local| local.rare().rarer().followed.replace(book));
            // WHY: `quietly`, here and below, because the trace buffer holds user code.
            quietly(|| drop(before));
            Turned::Nothing
        }
        Signal::Unfollow(book) => {
            let before = keep(me, |local| local.unfollow(&book));
            quietly(|| drop((before, book)));
            Turned::Nothing
        }
        Signal::Aliased { alias, message } => {
            let good = keep(me, |local| local.answers_to(alias));
            match if good { message.downcast::<M>() } else { Err(message) } {
                Ok(message) => Turned::Message(Sealed::new(*message, 0)),
                Err(unread) => {
                    here(|here| here.realm.home().dropped.alias());
                    // WHY: `quietly`, because the destructor is user code and a turn may be just
                    // beginning.
                    quietly(|| drop(unread));
                    Turned::Nothing
                }
            }
        }
        // For other processes, a process that is about to end has ended.
        signal if keep(me, |local| local.exiting()) => {
            answer_as_ended(id(me), signal);
            Turned::Nothing
        }
        Signal::Link(peer) => {
            keep(me, |local| local.rare().linked_by(peer));
            Turned::Nothing
        }
        Signal::Unlink { from, id: number } => {
            let peer = ProcessId::of(&from);
            let link = keep(me, |local| local.rare().unlinked_by(peer));
            drop(link);
            tell(&from, Signal::UnlinkAck { from: id(me), id: number });
            Turned::Nothing
        }
        Signal::UnlinkAck { from, id } => {
            drop(keep(me, |local| local.rare().unlink_acknowledged(from, id)));
            Turned::Nothing
        }
        Signal::Monitor { reference, watcher } => {
            keep(me, |local| local.rare().watchers.insert_new(reference, watcher));
            Turned::Nothing
        }
        Signal::Demonitor(reference) => {
            drop(keep(me, |local| local.rare().watchers.remove(reference)));
            Turned::Nothing
        }
        Signal::Group(reference, event) => {
            // N2: unless the group monitor was removed.
            match keep(me, |local| local.watches_group(reference)) {
                Some(convert) => {
                    turned::<M, Event>(me, || typed::<OfEvent<M>>(convert)(reference, *event))
                }
                None => Turned::Nothing,
            }
        }
        Signal::StillThere(asker) => {
            // The send fails if the caller has given up.
            let _ = asker.send(());
            Turned::Nothing
        }
        Signal::Down { .. } | Signal::LinkExit { .. } => unreachable!("`act` does that itself"),
        Signal::Describe(asker) => {
            let details = keep(me, |local| local.describe());
            // The send fails if the caller has given up.
            let _ = asker.send(details);
            Turned::Nothing
        }
    }
}

/// Runs `f` on the process's private state. Signals are handled in the process's own turn.
#[inline]
fn keep<M: Send + 'static, R>(me: &Owner<Erlang, M>, f: impl FnOnce(&mut Local) -> R) -> R {
    me.local(f).unwrap_or_else(|_| unreachable!("signals are acted on in the process's own turn"))
}

/// Returns whether the node is stopping. If so, an exit signal without a sender is the node's.
pub(crate) fn is_stopping() -> bool {
    here(|here| here.realm.home().stopping.load(Ordering::Relaxed)).unwrap_or(false)
}

pub(crate) fn id<M: Send + 'static>(me: &Owner<Erlang, M>) -> ProcessId {
    ProcessId::new(me.shared().creation, me.slot())
}

/// Handles an exit signal (L3, L4).
fn struck<M: Send + 'static>(
    me: &Owner<Erlang, M>,
    from: Option<ProcessId>,
    reason: ExitReason,
    by: Origin,
) -> Turned<M> {
    if let Some(convert) = keep(me, |local| local.traps(&reason, by)) {
        return turned::<M, Exit>(me, || typed::<OfExit<M>>(convert)(from, reason));
    }
    let (ends, unused) = keep(me, |local| local.strike(reason, by));
    quietly(|| drop(unused));
    if ends { over() } else { Turned::Nothing }
}

/// Stops all further receiving: the process ends at its next await.
fn over<M>() -> Turned<M> {
    exhaust();
    Turned::Over
}

/// Restores the type of a conversion function that this process stored.
fn typed<F: Copy + Send + Sync + 'static>(convert: Erased) -> F {
    convert.get().unwrap_or_else(|| unreachable!("a mailbox has one type"))
}

/// Converts a notice of type `T` into a message, with user code.
fn turned<M: Send + 'static, T>(
    me: &Owner<Erlang, M>,
    make: impl FnOnce() -> Sealed<M>,
) -> Turned<M> {
    match catch::panics(make) {
        Ok(sealed) => Turned::Message(sealed),
        Err(reason) => {
            body::report(me, &reason, std::any::type_name::<T>());
            let unused = keep(me, |local| local.end(reason));
            quietly(|| drop(unused));
            over()
        }
    }
}
