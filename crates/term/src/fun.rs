//! Funs of other nodes, which purlin can store and send back but not call.

use crate::{Atom, Pid, Term};

/// A fun with its free variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fun {
    /// Module that defines it.
    pub module: Atom,
    /// Number of arguments.
    pub arity: u8,
    /// MD5 of the significant parts of the module.
    pub uniq: [u8; 16],
    /// Index in the module.
    pub index: u32,
    /// Index in the format of old releases.
    pub old_index: i64,
    /// Hash of the module in the format of old releases.
    pub old_uniq: i64,
    /// Process that created it.
    pub pid: Pid,
    /// Values of its free variables.
    pub free: Vec<Term>,
}

/// External fun: `fun module:function/arity`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Export {
    /// The module.
    pub module: Atom,
    /// The function.
    pub function: Atom,
    /// Number of arguments.
    pub arity: u8,
}
