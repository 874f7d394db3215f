//! Runtimes whose rules the model knows.

use crate::language::{Op, Program};

/// Runtime whose rules apply: the two differ where SEMANTICS says so after the clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// The BEAM.
    Beam,
    /// purlin.
    Purlin,
    /// A node of each, with the processes of the program spread over them.
    Both,
}

impl Runtime {
    /// Returns whether the program has an operation whose outcomes may differ between the runtimes.
    pub fn differ_on(program: &Program) -> bool {
        (0..).zip(&program.scripts).any(|(who, script)| {
            script.iter().any(|op| match op {
                Op::Call(..) => true,
                Op::Exit(to, _) => *to == who,
                _ => false,
            })
        })
    }
}
