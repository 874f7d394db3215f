//! Funs: code that another node holds, which purlin can keep and send back but not run.

use crate::{Atom, Pid, Term};

/// A fun of some module, with the variables it holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fun {
    /// The module it is of.
    pub module: Atom,
    /// How many arguments it takes.
    pub arity: u8,
    /// The MD5 of what matters in the module's code.
    pub uniq: [u8; 16],
    /// Its number in the module.
    pub index: u32,
    /// What old releases took for its number.
    pub old_index: i64,
    /// What old releases took for the identity of the module's code.
    pub old_uniq: i64,
    /// The process that made it.
    pub pid: Pid,
    /// The values of its free variables.
    pub free: Vec<Term>,
}

/// A function named from outside: `fun module:function/arity`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Export {
    /// The module.
    pub module: Atom,
    /// The function.
    pub function: Atom,
    /// How many arguments it takes.
    pub arity: u8,
}
