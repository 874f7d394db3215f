//! Constants of the coherence model, and the topology of the machine.
//!
//! Times are in picoseconds internally and in nanoseconds here.

/// Simulated time in picoseconds.
pub(crate) type Time = u64;

/// Converts nanoseconds to simulated time.
pub(crate) fn time(nanoseconds: f64) -> Time {
    (nanoseconds * 1000.0).round() as Time
}

/// Sockets and cores. Core `n` belongs to socket `n / cores_per_socket`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topology {
    /// Number of sockets.
    pub sockets: usize,
    /// Number of cores of each socket.
    pub cores_per_socket: usize,
}

impl Topology {
    /// Returns the number of cores.
    pub fn cores(self) -> usize {
        self.sockets * self.cores_per_socket
    }

    /// Returns the socket of a core.
    pub(crate) fn socket(self, core: usize) -> usize {
        core / self.cores_per_socket
    }
}

/// Cost of each operation in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Load of a line that is in the core's cache.
    pub load: f64,
    /// Store to a line that the core owns, or into the store buffer.
    pub store: f64,
    /// Read-modify-write of a line that the core owns, or sequentially consistent fence.
    pub rmw: f64,
    /// From an access until the holder of its line, a core of the same socket, has to give it up.
    pub request: f64,
    /// From then until the line has arrived.
    pub transfer: f64,
    /// As `request`, to another socket.
    pub far_request: f64,
    /// As `transfer`, from another socket.
    pub far_transfer: f64,
    /// Access to a line that no cache holds.
    pub memory: f64,
    /// `pause` instruction.
    pub pause: f64,
    /// Reading the clock.
    pub clock: f64,
    /// System call that puts a thread to sleep, until the core is idle.
    pub sleep: f64,
    /// System call that wakes a thread, for the caller.
    pub wake: f64,
    /// From that system call until the woken thread runs.
    pub wake_latency: f64,
    /// Relative deviation of [`work`](crate::work), chosen at random.
    pub jitter: f64,
}

impl Costs {
    /// Two virtual cores of an AMD EPYC (family 26), measured by `purlin-many-cores calibrate`.
    ///
    /// `request` is the leg of a ping-pong by compare-and-swap. `transfer` follows from the rate at
    /// which two cores add to one counter. `memory` was not measured.
    pub const TWO_CORES: Self = Self {
        load: 0.3,
        store: 0.3,
        rmw: 4.6,
        request: 119.0,
        transfer: 50.0,
        far_request: 119.0,
        far_transfer: 50.0,
        memory: 90.0,
        pause: 22.4,
        clock: 21.0,
        sleep: 1500.0,
        wake: 2000.0,
        wake_latency: 16_000.0,
        jitter: 0.1,
    };

    /// Two sockets of an Intel Xeon Platinum 8375C: legs of 51 and 108 ns, as published by
    /// <https://github.com/nviennot/core-to-core-latency>. The ratio of `transfer` to `request` and
    /// the other constants are those of [`Costs::TWO_CORES`].
    pub const TWO_SOCKETS: Self = Self {
        request: 51.0,
        transfer: 21.4,
        far_request: 108.0,
        far_transfer: 45.4,
        ..Self::TWO_CORES
    };
}
