//! Classification of incoming signals for [`Requests`](super::requests::Requests): what each one needs, and its recipients.

use purlin::ProcessId;
use purlin_dist_protocol::control::{Control, Named, To};
use purlin_dist_protocol::frame::Unread;
use purlin_term::Atom;

use crate::cluster::core::Core;
use crate::cluster::receive::requests::{Need, Recipient, Recipients};

/// What a signal needs. A link or monitor of a dead process, and an unlink, are answered.
pub(super) fn need(control: &Control, payload: Option<Unread<'_>>) -> Need {
    let name = match control {
        Control::Link { .. }
        | Control::Unlink { .. }
        | Control::UnlinkId { .. }
        | Control::Monitor { .. } => return Need::Answer,
        Control::Spawn(_) => return Need::Turn,
        Control::RegSend { to, .. } | Control::Altact { exit: false, to: To::Name(to), .. } => {
            Some(to)
        }
        Control::Send { .. }
        | Control::SendSender { .. }
        | Control::AliasSend { .. }
        | Control::Altact { exit: false, .. } => None,
        _ => return Need::Nothing,
    };
    match payload {
        _ if name.is_some_and(|name| *name == "rex") => Need::Turn,
        Some(message) if message.is_call() => Need::Answer,
        _ => Need::Nothing,
    }
}

/// The recipients of a signal.
pub(super) fn recipients(core: &Core, control: &Control) -> Recipients {
    let ids = &core.ids;
    let process =
        |ours: Option<ProcessId>| [Some(ours.map_or(Recipient::Unknown, Recipient::Process)), None];
    let name = |name: &Atom| {
        let known = core.local_name(name.as_str());
        let known = known.map(|known| Recipient::Process(known.id()));
        [Some(Recipient::Name(name.clone())), known]
    };
    match control {
        Control::Link { to, .. }
        | Control::Unlink { to, .. }
        | Control::UnlinkId { to, .. }
        | Control::UnlinkIdAck { to, .. }
        | Control::Send { to, .. }
        | Control::SendSender { to, .. }
        | Control::Exit { to, .. }
        | Control::Exit2 { to, .. }
        | Control::Down { to, .. }
        | Control::Spawned { to, .. }
        | Control::Altact { to: To::Pid(to), .. }
        | Control::Monitor { to: Named::Pid(to), .. }
        | Control::Demonitor { to: Named::Pid(to), .. } => process(ids.ours(to)),
        Control::RegSend { to, .. }
        | Control::Altact { to: To::Name(to), .. }
        | Control::Monitor { to: Named::Name(to), .. }
        | Control::Demonitor { to: Named::Name(to), .. } => name(to),
        Control::AliasSend { to, .. } | Control::Altact { to: To::Alias(to), .. } => {
            process(ids.alias_of(to).map(|(ours, _)| ours))
        }
        // Spawn requests create their recipient.
        _ => [None, None],
    }
}
