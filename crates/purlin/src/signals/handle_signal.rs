//! Signal handling: what a process does with each signal that it takes out of its inbox.
//!
//! A process handles signals in its own turn, in the order of arrival, whether it receives or not.
//! A signal that becomes a message takes the signal's position among the messages (M2), unless the
//! process has asked for priority (M6). The user's conversion of a [`Down`] or an [`Exit`] into a
//! message runs here; its panic ends the process.

use purlin_raw::{
    ConvertedMessage, Erased, InTurn, SignalOutcome, exhaust_budget, is_traced, trace,
};

use crate::mailbox::send::drop_undelivered;
use crate::node::context::{is_stopping, with_context};
use crate::node::erlang_types::ErlangTypes;
use crate::pg::Event;
use crate::process::crash_report::report;
use crate::process::unwind::{catch, contain};
use crate::signals::end::answer_as_ended;
use crate::signals::local_state::{LocalState, OfDown, OfEvent, OfExit, Origin};
use crate::signals::monitor_link::Link;
use crate::signals::signal::{Signal, send_signal};
use crate::trace::hooks;
use crate::{Down, Exit, ExitReason, ProcessId};

/// Handles a signal and returns what it became.
///
/// WHY: two functions, because nearly all signals are down signals and link exits. These are
/// handled inline, where they are taken out of the inbox.
#[inline]
pub(crate) fn handle_signal<M: Send + 'static>(
    me: InTurn<'_, ErlangTypes, M>,
    signal: Signal,
) -> SignalOutcome<M> {
    if is_traced() {
        hooks::handled_signal(&signal);
    }
    match signal {
        Signal::Down { reference, reason } => {
            let (monitoring, convert) = me.local(|local| {
                let extended = local.extended();
                // L7: a process that is about to end receives nothing more.
                let down = extended.down.as_ref().filter(|_| extended.exit.is_none());
                (extended.monitors.remove(reference), down.map(typed::<OfDown<M>>))
            });
            let (Some(monitoring), Some(convert)) = (monitoring, convert) else {
                // The monitor was removed (D3), or the process is about to end.
                return SignalOutcome::Nothing;
            };
            let priority = monitoring.has_priority();
            converted::<M, Down>(me, priority, || convert(reference, monitoring, reason))
        }
        Signal::LinkExit { from, reason } => {
            let link = me.local(|local| local.extended().links.remove(from));
            let priority = link.filter(Link::is_up).map(|link| link.has_priority());
            if let Some(priority) = priority {
                return handle_exit_signal(me, Some(from), reason, Origin::Link, priority);
            }
            SignalOutcome::Nothing
        }
        signal => handle_other_signal(me, signal),
    }
}

/// [`handle_signal`] for the other kinds of signal.
#[cold]
#[inline(never)]
fn handle_other_signal<M: Send + 'static>(
    me: InTurn<'_, ErlangTypes, M>,
    signal: Signal,
) -> SignalOutcome<M> {
    match signal {
        Signal::Exit { from, reason } => {
            let by = match from {
                Some(sender) if sender == ProcessId::of(&me) => Origin::Itself,
                None if is_stopping() => Origin::Stop,
                _ => Origin::Other,
            };
            handle_exit_signal(me, from, reason, by, false)
        }
        Signal::AliasExit { alias, priority, from, reason } => {
            let Some(options) = me.local(|local| local.alias(alias)) else {
                return SignalOutcome::Nothing;
            };
            let itself = from == Some(ProcessId::of(&me));
            let by = if itself { Origin::Itself } else { Origin::Other };
            handle_exit_signal(me, from, reason, by, priority && options.priority)
        }
        Signal::WatchEnd(watch) => {
            me.local(|local| local.watch_end(watch));
            SignalOutcome::Nothing
        }
        Signal::Named => {
            me.local(|local| local.extended().named = true);
            SignalOutcome::Nothing
        }
        Signal::Follow(attachment) => {
            trace(true);
            let before = me.local(|local| local.extended().cold().followed.replace(attachment));
            // WHY: `contain`, here and below, because the trace buffer holds user code.
            contain(|| drop(before));
            SignalOutcome::Nothing
        }
        Signal::Unfollow(buffer) => {
            let before = me.local(|local| local.unfollow(&buffer));
            contain(|| drop((before, buffer)));
            SignalOutcome::Nothing
        }
        Signal::Aliased { alias, priority, message } => {
            let options = me.local(|local| local.answers_to(alias));
            match if options.is_some() { message.downcast::<M>() } else { Err(message) } {
                Ok(message) => {
                    let priority = priority && options.is_some_and(|options| options.priority);
                    placed(ConvertedMessage::new(*message, 0), priority)
                }
                Err(unread) => {
                    with_context(|here| here.node_core.state().dropped.alias());
                    // WHY: `contain`, because the destructor is user code and a turn may be
                    // just beginning.
                    contain(|| drop(unread));
                    SignalOutcome::Nothing
                }
            }
        }
        // For other processes, a process that is about to end has ended (M4).
        Signal::Message(unread) if me.read_local(LocalState::exiting) => {
            contain(|| drop_undelivered(unread));
            SignalOutcome::Nothing
        }
        signal if me.read_local(LocalState::exiting) => {
            answer_as_ended(ProcessId::of(&me), signal);
            SignalOutcome::Nothing
        }
        Signal::Message(message) => {
            let Ok(message) = message.downcast::<M>() else {
                unreachable!("a mailbox has one type")
            };
            SignalOutcome::Message(ConvertedMessage::new(*message, 0))
        }
        Signal::Link(peer) => {
            me.local(|local| local.extended().linked_by(peer));
            SignalOutcome::Nothing
        }
        Signal::Unlink { from, id: number } => {
            let peer = ProcessId::of(&from);
            let link = me.local(|local| local.extended().unlinked_by(peer));
            drop(link);
            send_signal(&from, Signal::UnlinkAck { from: ProcessId::of(&me), id: number });
            SignalOutcome::Nothing
        }
        Signal::LinkLost { from, id } => {
            let peer = ProcessId::of(&from);
            let link = me.local(|local| local.extended().unlinked_by(peer));
            send_signal(&from, Signal::UnlinkAck { from: ProcessId::of(&me), id });
            // L5: if this process has unlinked, its entry waits for the acknowledgement of that.
            let Some(priority) = link.map(|link| link.has_priority()) else {
                return SignalOutcome::Nothing;
            };
            let reason = ExitReason::NoConnection;
            handle_exit_signal(me, Some(peer), reason, Origin::Link, priority)
        }
        Signal::UnlinkAck { from, id } => {
            drop(me.local(|local| local.extended().unlink_acknowledged(from, id)));
            SignalOutcome::Nothing
        }
        Signal::Monitor { reference, watcher } => {
            me.local(|local| local.extended().watchers.insert_new(reference, watcher));
            SignalOutcome::Nothing
        }
        Signal::Demonitor(reference) => {
            drop(me.local(|local| local.extended().watchers.remove(reference)));
            SignalOutcome::Nothing
        }
        Signal::Group(reference, event) => {
            // N2: unless the group monitor was removed.
            match me.local(|local| local.watches_group(reference).map(typed::<OfEvent<M>>)) {
                Some(convert) => converted::<M, Event>(me, false, || convert(reference, *event)),
                None => SignalOutcome::Nothing,
            }
        }
        Signal::StillThere(asker) => {
            // The send fails if the caller has given up.
            let _ = asker.send(());
            SignalOutcome::Nothing
        }
        Signal::Down { .. } | Signal::LinkExit { .. } => {
            unreachable!("`handle_signal` handles these")
        }
        Signal::Describe(asker) => {
            let details = me.read_local(LocalState::describe);
            // The send fails if the caller has given up.
            let _ = asker.send(details);
            SignalOutcome::Nothing
        }
    }
}

/// Handles an exit signal (L3, L4), which becomes a priority message if `priority`.
fn handle_exit_signal<M: Send + 'static>(
    me: InTurn<'_, ErlangTypes, M>,
    from: Option<ProcessId>,
    reason: ExitReason,
    by: Origin,
    priority: bool,
) -> SignalOutcome<M> {
    if let Some(convert) = me.read_local(|local| local.traps(&reason, by).map(typed::<OfExit<M>>)) {
        return converted::<M, Exit>(me, priority, || convert(from, reason));
    }
    let (ends, unused) = me.local(|local| local.receive_exit(reason, by));
    drop(unused);
    if ends { end_process() } else { SignalOutcome::Nothing }
}

/// Stops all further receiving: the process ends at its next await.
fn end_process<M>() -> SignalOutcome<M> {
    exhaust_budget();
    SignalOutcome::Over
}

/// Restores the type of a conversion function that this process stored.
fn typed<F: Copy + Send + Sync + 'static>(convert: &Erased) -> F {
    convert.get().unwrap_or_else(|| unreachable!("a mailbox has one type"))
}

/// Returns the outcome for a signal that has become a message.
#[inline]
fn placed<M>(message: ConvertedMessage<M>, priority: bool) -> SignalOutcome<M> {
    if priority { SignalOutcome::Priority(message) } else { SignalOutcome::Message(message) }
}

/// Converts a notice of type `T` into a message, with user code.
fn converted<M: Send + 'static, T>(
    me: InTurn<'_, ErlangTypes, M>,
    priority: bool,
    make: impl FnOnce() -> ConvertedMessage<M>,
) -> SignalOutcome<M> {
    match catch(make) {
        Ok(sealed) => placed(sealed, priority),
        Err(reason) => {
            report(&me, &reason, std::any::type_name::<T>());
            drop(me.local(|local| local.end(reason)));
            end_process()
        }
    }
}
