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
//! - `ALIAS` and `ALTACT_SIG`: both carry messages to aliases.
//! - `NATIVE_RECORDS`: nodes of OTP 29 send native records whether it is offered or not.
//!
//! Not offered: the two atom caches of releases before R13, and `NAME_ME`, which is not a
//! capability but a request for a dynamic node name. Unknown bits are never offered and never kept.

use std::fmt;
use std::ops::{BitAnd, BitOr};

/// A set of capability flags.
///
/// ```
/// use purlin_dist_protocol::Flags;
///
/// let theirs = Flags::from_bits(0x0d07df7fbd);
/// let both = theirs.expanded() & Flags::OFFERED;
/// assert!(both.has(Flags::SPAWN | Flags::FRAGMENTS));
/// assert_eq!(Flags::REQUIRED.without(both), Flags::NONE);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Flags(u64);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl Flags {
            $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)*

            const NAMES: &[(Self, &str)] = &[$((Self::$name, stringify!($name))),*];
        }
    };
}

flags! {
    /// The node is published: it appears in `nodes()` and takes part in `global`. A node without it is hidden.
    PUBLISHED = 0;
    /// References of up to three words; later flags allow more.
    EXTENDED_REFERENCES = 2;
    /// Processes can be monitored.
    DIST_MONITOR = 3;
    /// Funs have their own term tags.
    FUN_TAGS = 4;
    /// Registered names can be monitored.
    DIST_MONITOR_NAME = 5;
    /// Funs are encoded as `NEW_FUN_EXT`.
    NEW_FUN_TAGS = 7;
    /// Pids and ports may have more than 15 bits.
    EXTENDED_PIDS_PORTS = 8;
    /// External funs, `fun m:f/1`.
    EXPORT_PTR_TAG = 9;
    /// Bit strings.
    BIT_BINARIES = 10;
    /// Floats in eight bytes.
    NEW_FLOATS = 11;
    /// The I/O protocol handles characters beyond Latin-1.
    UNICODE_IO = 12;
    /// Frames have a distribution header with an atom cache.
    DIST_HDR_ATOM_CACHE = 13;
    /// Atoms with a one-byte length.
    SMALL_ATOM_TAGS = 14;
    /// Atoms in UTF-8.
    UTF8_ATOMS = 16;
    /// Maps.
    MAP_TAG = 17;
    /// Creations of four bytes.
    BIG_CREATION = 18;
    /// Send messages name the sender.
    SEND_SENDER = 19;
    /// The label of a trace token may be any term.
    BIG_SEQTRACE_LABELS = 20;
    /// The reason of an exit is in the payload, not in the control message.
    EXIT_PAYLOAD = 22;
    /// Large messages are split into fragments, between which other messages may come.
    FRAGMENTS = 23;
    /// Version 6 of the handshake.
    HANDSHAKE_23 = 24;
    /// Unlinks have an id and are acknowledged.
    UNLINK_ID = 25;
    /// Stands for the eleven flags that every node of OTP 25 has ([`Flags::expanded`]).
    MANDATORY_25_DIGEST = 26;
    /// Processes can be spawned by request.
    SPAWN = 32;
    /// Not a capability: the node asks for a dynamic name.
    NAME_ME = 33;
    /// Pids, ports and references have larger ids.
    V4_NC = 34;
    /// Messages can be sent to an alias.
    ALIAS = 35;
    /// Priority signals, also to an alias, by the `ALTACT_SIG_SEND` control message of OTP 28.
    ALTACT_SIG = 37;
    /// Native records of OTP 29.
    NATIVE_RECORDS = 38;
}

impl Flags {
    /// No flags.
    pub const NONE: Self = Self(0);

    /// The flags that [`Flags::MANDATORY_25_DIGEST`] stands for.
    pub const MANDATORY_25: Self = Self(
        Self::EXTENDED_REFERENCES.0
            | Self::FUN_TAGS.0
            | Self::NEW_FUN_TAGS.0
            | Self::EXTENDED_PIDS_PORTS.0
            | Self::EXPORT_PTR_TAG.0
            | Self::BIT_BINARIES.0
            | Self::NEW_FLOATS.0
            | Self::UTF8_ATOMS.0
            | Self::MAP_TAG.0
            | Self::BIG_CREATION.0
            | Self::HANDSHAKE_23.0,
    );

    /// The flags that a peer must have: those of OTP 24 and later that OTP 26 demands.
    pub const REQUIRED: Self = Self(Self::MANDATORY_25.0 | Self::UNLINK_ID.0 | Self::V4_NC.0);

    /// The flags that this node offers. The node adds [`Flags::PUBLISHED`] unless it is hidden.
    pub const OFFERED: Self = Self(
        Self::REQUIRED.0
            | Self::MANDATORY_25_DIGEST.0
            | Self::DIST_MONITOR.0
            | Self::DIST_MONITOR_NAME.0
            | Self::UNICODE_IO.0
            | Self::DIST_HDR_ATOM_CACHE.0
            | Self::SMALL_ATOM_TAGS.0
            | Self::SEND_SENDER.0
            | Self::BIG_SEQTRACE_LABELS.0
            | Self::EXIT_PAYLOAD.0
            | Self::FRAGMENTS.0
            | Self::SPAWN.0
            | Self::ALIAS.0
            | Self::ALTACT_SIG.0
            | Self::NATIVE_RECORDS.0,
    );

    /// The flags of a handshake. Unknown bits remain until the intersection with [`Flags::OFFERED`].
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits as a handshake carries them.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether `self` contains all of `others`.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// `self` minus `others`.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Adds the flags that [`Flags::MANDATORY_25_DIGEST`] stands for, if it is set.
    #[must_use]
    pub const fn expanded(self) -> Self {
        if self.has(Self::MANDATORY_25_DIGEST) { Self(self.0 | Self::MANDATORY_25.0) } else { self }
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Flags {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Prints the names of OTP; unknown bits as a hexadecimal number.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            return f.write_str("none");
        }
        let mut rest = self.0;
        let mut between = "";
        for (flag, name) in Self::NAMES {
            if self.has(*flag) {
                write!(f, "{between}{name}")?;
                (between, rest) = (" ", rest & !flag.0);
            }
        }
        if rest != 0 {
            write!(f, "{between}{rest:#x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({self})")
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
        assert!(expanded.has(Flags::MANDATORY_25));
        assert_eq!(Flags::REQUIRED.without(expanded), Flags::UNLINK_ID | Flags::V4_NC);
        assert_eq!(Flags::SPAWN.expanded(), Flags::SPAWN);
    }

    #[test]
    fn flags_are_printed_by_name_and_unknown_bits_in_hexadecimal() {
        assert_eq!(
            (Flags::SPAWN | Flags::from_bits(1 << 60)).to_string(),
            "SPAWN 0x1000000000000000"
        );
        assert_eq!(Flags::NONE.to_string(), "none");
    }

    #[test]
    fn required_flags_are_offered() {
        assert!(Flags::OFFERED.has(Flags::REQUIRED));
        assert!(!Flags::OFFERED.has(Flags::PUBLISHED) && !Flags::OFFERED.has(Flags::NAME_ME));
    }
}
