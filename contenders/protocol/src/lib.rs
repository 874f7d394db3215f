//! contenders/protocol
