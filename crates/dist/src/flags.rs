//! What a node says in its handshake that it can do. Pure.
//!
//! Two nodes do what both can. What the other must be able to do is [`Flags::REQUIRED`];
//! what we say is [`Flags::OFFERED`], and [`Flags::PUBLISHED`] besides for a node that is
//! not hidden.
//!
//! # What is offered, and why
//!
//! - All that nodes of OTP 25 and 26 demand, each by its own bit and once more by
//!   [`MANDATORY_25_DIGEST`](Flags::MANDATORY_25_DIGEST), the one bit that a later OTP will
//!   look at alone.
//! - `FRAGMENTS`, because without it a term of 100 MB is one frame, and a ping behind it
//!   waits until it is through, in either direction.
//! - `DIST_HDR_ATOM_CACHE`, because a message names its node three or four times, and the
//!   BEAM looks an atom that is spelt out up in its table, under a lock that all share; one
//!   that is in the cache costs it an index. Frames become shorter, too. The price is a
//!   table of 2048 atoms in each direction, and that frames must be read in the order in
//!   which they were written, which they are anyway.
//! - `SPAWN`, because `rpc:call` says `notsup` without it. So every request is answered.
//! - `ALIAS` and `ALTACT_SIG`: what is sent to an alias comes by either.
//!
//! Not offered: the two atom caches before R13, and `NAME_ME`, which is no ability but the
//! wish to be given a name. A bit whose meaning is unknown is never offered and never kept.

use std::fmt;
use std::ops::{BitAnd, BitOr};

/// A set of abilities.
///
/// ```
/// use purlin_dist::Flags;
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
    /// It is shown among the nodes and takes part in `global`; without it a node is hidden.
    PUBLISHED = 0;
    /// References of up to three words, at least.
    EXTENDED_REFERENCES = 2;
    /// Processes can be monitored.
    DIST_MONITOR = 3;
    /// Funs have tags of their own.
    FUN_TAGS = 4;
    /// Names can be monitored.
    DIST_MONITOR_NAME = 5;
    /// Funs as of today.
    NEW_FUN_TAGS = 7;
    /// Pids and ports with more than 15 bits.
    EXTENDED_PIDS_PORTS = 8;
    /// `fun m:f/1`.
    EXPORT_PTR_TAG = 9;
    /// Bit strings.
    BIT_BINARIES = 10;
    /// Floats in eight bytes.
    NEW_FLOATS = 11;
    /// Characters beyond Latin-1 in the protocol of I/O servers.
    UNICODE_IO = 12;
    /// Frames have a header, and atoms in it that both ends remember.
    DIST_HDR_ATOM_CACHE = 13;
    /// Atoms with one byte of length.
    SMALL_ATOM_TAGS = 14;
    /// Atoms in UTF-8.
    UTF8_ATOMS = 16;
    /// Maps.
    MAP_TAG = 17;
    /// Creations of four bytes.
    BIG_CREATION = 18;
    /// Who sends is said with what is sent.
    SEND_SENDER = 19;
    /// The label of a trace token is any term.
    BIG_SEQTRACE_LABELS = 20;
    /// The reason of an exit stands behind the control message, not in it.
    EXIT_PAYLOAD = 22;
    /// Large messages come in pieces, among other messages.
    FRAGMENTS = 23;
    /// Version 6 of the handshake.
    HANDSHAKE_23 = 24;
    /// An unlink has a number and is acknowledged.
    UNLINK_ID = 25;
    /// Stands for the eleven that every node of OTP 25 has ([`Flags::expanded`]).
    MANDATORY_25_DIGEST = 26;
    /// Processes can be spawned by request.
    SPAWN = 32;
    /// Not an ability: the node wants to be given a name.
    NAME_ME = 33;
    /// Larger ids in pids, ports and references.
    V4_NC = 34;
    /// Messages can be sent to an alias.
    ALIAS = 35;
    /// Signals with priority, and to an alias, by a control message of OTP 28.
    ALTACT_SIG = 37;
}

impl Flags {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// What [`Flags::MANDATORY_25_DIGEST`] stands for.
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

    /// What a node must be able to do that we talk with: OTP 24 and later, as OTP 26 demands it.
    pub const REQUIRED: Self = Self(Self::MANDATORY_25.0 | Self::UNLINK_ID.0 | Self::V4_NC.0);

    /// What we can do; [`Flags::PUBLISHED`] is for the node to choose.
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
            | Self::ALTACT_SIG.0,
    );

    /// The flags of a handshake. Bits that are not known are kept until they meet [`Flags::OFFERED`].
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// As a handshake carries them.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all of `others` are among these.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// These, but none of `others`.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// With the eleven, if the one that stands for them is there.
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

/// Their names, as in OTP; what has none as a number.
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
        // The same values as `dist.hrl` of OTP 25 has them, and the last one of OTP 28.
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
        ] {
            assert_eq!(flag.bits(), bits, "{flag}");
        }
    }

    #[test]
    fn the_digest_stands_for_eleven_flags_and_for_no_others() {
        let expanded = Flags::MANDATORY_25_DIGEST.expanded();
        assert_eq!(expanded.bits().count_ones(), 12);
        assert!(expanded.has(Flags::MANDATORY_25));
        assert_eq!(Flags::REQUIRED.without(expanded), Flags::UNLINK_ID | Flags::V4_NC);
        assert_eq!(Flags::SPAWN.expanded(), Flags::SPAWN);
    }

    #[test]
    fn what_is_missing_is_told_by_name() {
        assert_eq!(
            (Flags::SPAWN | Flags::from_bits(1 << 60)).to_string(),
            "SPAWN 0x1000000000000000"
        );
        assert_eq!(Flags::NONE.to_string(), "none");
    }

    #[test]
    fn what_is_required_is_offered() {
        assert!(Flags::OFFERED.has(Flags::REQUIRED));
        assert!(!Flags::OFFERED.has(Flags::PUBLISHED) && !Flags::OFFERED.has(Flags::NAME_ME));
    }
}
