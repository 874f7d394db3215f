//! Numbers of the control messages, under the names of the protocol specification. `_TT` has a
//! trace token; `PAYLOAD_` has its reason as the payload.

pub(super) const LINK: i64 = 1;
pub(super) const SEND: i64 = 2;
pub(super) const EXIT: i64 = 3;
pub(super) const UNLINK: i64 = 4;
pub(super) const REG_SEND: i64 = 6;
pub(super) const GROUP_LEADER: i64 = 7;
pub(super) const EXIT2: i64 = 8;
pub(super) const SEND_TT: i64 = 12;
pub(super) const EXIT_TT: i64 = 13;
pub(super) const REG_SEND_TT: i64 = 16;
pub(super) const EXIT2_TT: i64 = 18;
pub(super) const MONITOR_P: i64 = 19;
pub(super) const DEMONITOR_P: i64 = 20;
pub(super) const MONITOR_P_EXIT: i64 = 21;
pub(super) const SEND_SENDER: i64 = 22;
pub(super) const SEND_SENDER_TT: i64 = 23;
pub(super) const PAYLOAD_EXIT: i64 = 24;
pub(super) const PAYLOAD_EXIT_TT: i64 = 25;
pub(super) const PAYLOAD_EXIT2: i64 = 26;
pub(super) const PAYLOAD_EXIT2_TT: i64 = 27;
pub(super) const PAYLOAD_MONITOR_P_EXIT: i64 = 28;
pub(super) const SPAWN_REQUEST: i64 = 29;
pub(super) const SPAWN_REQUEST_TT: i64 = 30;
pub(super) const SPAWN_REPLY: i64 = 31;
pub(super) const SPAWN_REPLY_TT: i64 = 32;
pub(super) const ALIAS_SEND: i64 = 33;
pub(super) const ALIAS_SEND_TT: i64 = 34;
pub(super) const UNLINK_ID: i64 = 35;
pub(super) const UNLINK_ID_ACK: i64 = 36;
pub(super) const ALTACT_SIG_SEND: i64 = 37;
