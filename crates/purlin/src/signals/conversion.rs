//! Bounds on the messages of processes that receive signals, with error messages that name the fix.

use crate::{Down, Exit};

/// Mailbox of a process that may monitor: a message type that a [`Down`] converts into. Every type
/// that implements `From<Down>` is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from a `Down`, which a process that monitors receives",
    label = "`{Self}` does not implement `From<Down>`",
    note = "derive `purlin::Message` for the message type and add a variant `#[from] Down(Down)`",
    note = "a server has the variant in its `Info`, or a method `#[info] fn down(&mut self, down: Down)`"
)]
pub trait ReceivesDown: From<Down> {}

#[diagnostic::do_not_recommend]
impl<M: From<Down>> ReceivesDown for M {}

/// Mailbox of a process that may trap exits: a message type that an [`Exit`] converts into. Every
/// type that implements `From<Exit>` is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from an `Exit`, which a process that traps exits receives",
    label = "`{Self}` does not implement `From<Exit>`",
    note = "derive `purlin::Message` for the message type and add a variant `#[from] Exit(Exit)`",
    note = "a server has the variant in its `Info`, or a method `#[info] fn exit(&mut self, exit: Exit)`"
)]
pub trait ReceivesExit: From<Exit> {}

#[diagnostic::do_not_recommend]
impl<M: From<Exit>> ReceivesExit for M {}
