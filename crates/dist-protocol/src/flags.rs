//! Distribution capability flags. Pure.
//!
//! Two nodes use the capabilities that both have. A peer must have [`Flags::REQUIRED`]. This node
//! offers [`Flags::OFFERED`], and also [`Flags::PUBLISHED`] unless it is hidden.
//!
//! # Offered flags
//!
//! - All flags that nodes of OTP 25 and 26 demand: each by its own bit, and once more by
//!   [`MANDATORY_25_DIGEST`](Flags::MANDATORY_25_DIGEST), the only bit that later releases will
//!   check.
//! - `FRAGMENTS`: without it a term of 100 MB is one frame, and a ping queued after it waits until
//!   the whole frame is through, in either direction.
//! - `DIST_HDR_ATOM_CACHE`: a message contains its node's name three or four times. The BEAM looks
//!   up an atom that is spelt out in its atom table, under a lock shared by all schedulers; a cached
//!   atom costs an index. Frames are also shorter. The cost is a table of 2048 atoms in each
//!   direction, and that frames must be read in the order in which they were written, which holds
//!   anyway.
//! - `SPAWN`: without it `rpc:call` returns `notsup`. Every spawn request is therefore answered.
//! - `ALIAS` and `ALTACT_SIG`: both carry messages to aliases; the second one also priority messages and
//!   exit signals.
//! - `NATIVE_RECORDS`: nodes of OTP 29 send native records whether it is offered or not.
//!
//! Not offered: the two atom caches of releases before R13, and `NAME_ME`, which is not a
//! capability but a request for a dynamic node name. Unknown bits are never offered and never kept.

use std::fmt;

bitflags::bitflags! {
    /// A set of capability flags.
    ///
    /// ```
    /// use purlin_dist_protocol::Flags;
    ///
    /// let theirs = Flags::from_bits_retain(0x0d07df7fbd);
    /// let both = theirs.expanded() & Flags::OFFERED;
    /// assert!(both.contains(Flags::SPAWN | Flags::FRAGMENTS));
    /// assert_eq!(Flags::REQUIRED - both, Flags::empty());
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u64 {
        /// The node is published: it appears in `nodes()` and takes part in `global`. A node without it is hidden.
        const PUBLISHED = 1 << 0;
        /// References of up to three words; later flags allow more.
        const EXTENDED_REFERENCES = 1 << 2;
        /// Processes can be monitored.
        const DIST_MONITOR = 1 << 3;
        /// Funs have their own term tags.
        const FUN_TAGS = 1 << 4;
        /// Registered names can be monitored.
        const DIST_MONITOR_NAME = 1 << 5;
        /// Funs are encoded as `NEW_FUN_EXT`.
        const NEW_FUN_TAGS = 1 << 7;
        /// Pids and ports may have more than 15 bits.
        const EXTENDED_PIDS_PORTS = 1 << 8;
        /// External funs, `fun m:f/1`.
        const EXPORT_PTR_TAG = 1 << 9;
        /// Bit strings.
        const BIT_BINARIES = 1 << 10;
        /// Floats in eight bytes.
        const NEW_FLOATS = 1 << 11;
        /// The I/O protocol handles characters beyond Latin-1.
        const UNICODE_IO = 1 << 12;
        /// Frames have a distribution header with an atom cache.
        const DIST_HDR_ATOM_CACHE = 1 << 13;
        /// Atoms with a one-byte length.
        const SMALL_ATOM_TAGS = 1 << 14;
        /// Atoms in UTF-8.
        const UTF8_ATOMS = 1 << 16;
        /// Maps.
        const MAP_TAG = 1 << 17;
        /// Creations of four bytes.
        const BIG_CREATION = 1 << 18;
        /// Send messages name the sender.
        const SEND_SENDER = 1 << 19;
        /// The label of a trace token may be any term.
        const BIG_SEQTRACE_LABELS = 1 << 20;
        /// The reason of an exit is in the payload, not in the control message.
        const EXIT_PAYLOAD = 1 << 22;
        /// Large messages are split into fragments, between which other messages may come.
        const FRAGMENTS = 1 << 23;
        /// Version 6 of the handshake.
        const HANDSHAKE_23 = 1 << 24;
        /// Unlinks have an id and are acknowledged.
        const UNLINK_ID = 1 << 25;
        /// Stands for the eleven flags that every node of OTP 25 has ([`Flags::expanded`]).
        const MANDATORY_25_DIGEST = 1 << 26;
        /// Processes can be spawned by request.
        const SPAWN = 1 << 32;
        /// Not a capability: the node asks for a dynamic name.
        const NAME_ME = 1 << 33;
        /// Pids, ports and references have larger ids.
        const V4_NC = 1 << 34;
        /// Messages can be sent to an alias.
        const ALIAS = 1 << 35;
        /// Priority signals, also to an alias, by the `ALTACT_SIG_SEND` control message of OTP 28.
        const ALTACT_SIG = 1 << 37;
        /// Native records of OTP 29.
        const NATIVE_RECORDS = 1 << 38;
    }
}

impl Flags {
    /// The flags that [`Flags::MANDATORY_25_DIGEST`] stands for.
    pub const MANDATORY_25: Self = Self::from_bits_retain(
        Self::EXTENDED_REFERENCES.bits()
            | Self::FUN_TAGS.bits()
            | Self::NEW_FUN_TAGS.bits()
            | Self::EXTENDED_PIDS_PORTS.bits()
            | Self::EXPORT_PTR_TAG.bits()
            | Self::BIT_BINARIES.bits()
            | Self::NEW_FLOATS.bits()
            | Self::UTF8_ATOMS.bits()
            | Self::MAP_TAG.bits()
            | Self::BIG_CREATION.bits()
            | Self::HANDSHAKE_23.bits(),
    );

    /// The flags that a peer must have: those of OTP 24 and later that OTP 26 demands.
    pub const REQUIRED: Self = Self::from_bits_retain(
        Self::MANDATORY_25.bits() | Self::UNLINK_ID.bits() | Self::V4_NC.bits(),
    );

    /// The flags of a peer that understands monitors. C nodes of `ei` and jinterface lack them, and jinterface closes the
    /// connection on an unknown control message; a BEAM sends such peers neither monitors nor their removal.
    pub const MONITORS: Self =
        Self::from_bits_retain(Self::DIST_MONITOR.bits() | Self::DIST_MONITOR_NAME.bits());

    /// The flags that this node offers. The node adds [`Flags::PUBLISHED`] unless it is hidden.
    pub const OFFERED: Self = Self::from_bits_retain(
        Self::REQUIRED.bits()
            | Self::MANDATORY_25_DIGEST.bits()
            | Self::MONITORS.bits()
            | Self::UNICODE_IO.bits()
            | Self::DIST_HDR_ATOM_CACHE.bits()
            | Self::SMALL_ATOM_TAGS.bits()
            | Self::SEND_SENDER.bits()
            | Self::BIG_SEQTRACE_LABELS.bits()
            | Self::EXIT_PAYLOAD.bits()
            | Self::FRAGMENTS.bits()
            | Self::SPAWN.bits()
            | Self::ALIAS.bits()
            | Self::ALTACT_SIG.bits()
            | Self::NATIVE_RECORDS.bits(),
    );

    /// Adds the flags that [`Flags::MANDATORY_25_DIGEST`] stands for, if it is set.
    #[must_use]
    pub const fn expanded(self) -> Self {
        if self.contains(Self::MANDATORY_25_DIGEST) { self.union(Self::MANDATORY_25) } else { self }
    }
}

/// Prints the names of OTP, separated by ` | `; unknown bits as a hexadecimal number.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bitflags::parser::to_writer(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_otps_header() {
        // The values in `dist.hrl` of OTP 25; the last two are from OTP 28 and 29.
        for (flag, bits) in [
            (Flags::PUBLISHED, 0x1),
            (Flags::EXTENDED_REFERENCES, 0x4),
            (Flags::DIST_MONITOR, 0x8),
            (Flags::FUN_TAGS, 0x10),
            (Flags::DIST_MONITOR_NAME, 0x20),
            (Flags::NEW_FUN_TAGS, 0x80),
            (Flags::EXTENDED_PIDS_PORTS, 0x100),
            (Flags::EXPORT_PTR_TAG, 0x200),
            (Flags::BIT_BINARIES, 0x400),
            (Flags::NEW_FLOATS, 0x800),
            (Flags::UNICODE_IO, 0x1000),
            (Flags::DIST_HDR_ATOM_CACHE, 0x2000),
            (Flags::SMALL_ATOM_TAGS, 0x4000),
            (Flags::UTF8_ATOMS, 0x1_0000),
            (Flags::MAP_TAG, 0x2_0000),
            (Flags::BIG_CREATION, 0x4_0000),
            (Flags::SEND_SENDER, 0x8_0000),
            (Flags::BIG_SEQTRACE_LABELS, 0x10_0000),
            (Flags::EXIT_PAYLOAD, 0x40_0000),
            (Flags::FRAGMENTS, 0x80_0000),
            (Flags::HANDSHAKE_23, 0x100_0000),
            (Flags::UNLINK_ID, 0x200_0000),
            (Flags::MANDATORY_25_DIGEST, 0x400_0000),
            (Flags::SPAWN, 0x1_0000_0000),
            (Flags::NAME_ME, 0x2_0000_0000),
            (Flags::V4_NC, 0x4_0000_0000),
            (Flags::ALIAS, 0x8_0000_0000),
            (Flags::ALTACT_SIG, 0x20_0000_0000),
            (Flags::NATIVE_RECORDS, 0x40_0000_0000),
        ] {
            assert_eq!(flag.bits(), bits, "{flag}");
        }
    }

    #[test]
    fn mandatory_25_digest_expands_to_exactly_eleven_flags() {
        let expanded = Flags::MANDATORY_25_DIGEST.expanded();
        assert_eq!(expanded.bits().count_ones(), 12);
        assert!(expanded.contains(Flags::MANDATORY_25));
        assert_eq!(Flags::REQUIRED - expanded, Flags::UNLINK_ID | Flags::V4_NC);
        assert_eq!(Flags::SPAWN.expanded(), Flags::SPAWN);
    }

    #[test]
    fn flags_are_printed_by_name_and_unknown_bits_in_hexadecimal() {
        assert_eq!(
            (Flags::SPAWN | Flags::from_bits_retain(1 << 60)).to_string(),
            "SPAWN | 0x1000000000000000"
        );
    }

    #[test]
    fn required_flags_are_offered() {
        assert!(Flags::OFFERED.contains(Flags::REQUIRED));
        assert!(
            !Flags::OFFERED.contains(Flags::PUBLISHED) && !Flags::OFFERED.contains(Flags::NAME_ME)
        );
    }
}
