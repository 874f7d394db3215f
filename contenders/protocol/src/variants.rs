//! Variants of experiments: their names, and the table of those a contender offers.
//!
//! Pure. A contender with an empty list for an experiment runs it in one way only and accepts no
//! parameter `variant` there.

use crate::params::Params;

/// A variant's name in the protocol.
pub(crate) trait Named: Copy {
    fn name(self) -> &'static str;
}

/// Mailbox and receive loop: the variants of `call-vs-send`, `throughput` and `fan-in`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// An unbounded mailbox, one message per receive.
    #[default]
    Unbounded,
    /// A bounded mailbox: a sender waits for capacity.
    Bounded,
    /// An unbounded mailbox, many messages per receive.
    ReceiveMany,
}

/// Lifetime of the spawned processes: the variants of `fork-join`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Children {
    /// Each reports and ends as soon as it runs.
    #[default]
    Ending,
    /// Each waits until all are spawned.
    Alive,
}

/// The called process: the variants of `call`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Callee {
    /// A server of the runtime's library.
    #[default]
    Server,
    /// A process with a receive loop.
    Process,
}

impl Named for Flow {
    fn name(self) -> &'static str {
        match self {
            Flow::Unbounded => "unbounded",
            Flow::Bounded => "bounded",
            Flow::ReceiveMany => "recv-many",
        }
    }
}

impl Named for Children {
    fn name(self) -> &'static str {
        match self {
            Children::Ending => "ending",
            Children::Alive => "alive",
        }
    }
}

impl Named for Callee {
    fn name(self) -> &'static str {
        match self {
            Callee::Server => "server",
            Callee::Process => "process",
        }
    }
}

/// The variants a contender offers; in each list the natural one first.
#[derive(Clone, Debug, Default)]
pub struct Variants {
    /// The variants of `call-vs-send`, `throughput` and `fan-in`.
    pub flows: Vec<Flow>,
    /// The variants of `fork-join`.
    pub children: Vec<Children>,
    /// The variants of `call`.
    pub callees: Vec<Callee>,
}

/// Experiments whose variants each contender names in terms of its runtime.
pub(crate) const WITH_VARIANTS: [&str; 5] =
    ["call-vs-send", "throughput", "fan-in", "fork-join", "call"];

impl Variants {
    /// Returns the experiments with a non-empty list, each with the names of its variants.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> + '_ {
        let listed = WITH_VARIANTS.map(|experiment| {
            let names = match experiment {
                "fork-join" => names(&self.children),
                "call" => names(&self.callees),
                _ => names(&self.flows),
            };
            (experiment, names)
        });
        listed.into_iter().filter(|(_, names)| !names.is_empty())
    }
}

/// Returns the names of variants in the protocol.
pub(crate) fn names<V: Named>(variants: &[V]) -> Vec<&'static str> {
    variants.iter().map(|variant| variant.name()).collect()
}

/// Parses the optional parameter `variant`. The natural variant is the first of `known`, or the
/// default if a contender lists no variants and therefore accepts no such parameter.
pub(crate) fn variant<V: Named + Default>(p: &mut Params<'_>, known: &[V]) -> Result<V, String> {
    match known.first() {
        None => Ok(V::default()),
        Some(natural) => {
            let choices: Vec<_> = known.iter().map(|known| (known.name(), *known)).collect();
            p.choice_or("variant", &choices, *natural)
        }
    }
}
