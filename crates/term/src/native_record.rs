//! Native records of OTP 29 (EEP 79).

use crate::{Atom, Term};

/// A native record: `#module:name{field = value, ...}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NativeRecord {
    /// Module that defines it.
    pub module: Atom,
    /// Its name.
    pub name: Atom,
    /// Whether other modules may access its fields.
    pub exported: bool,
    /// Fields, in the order of the definition.
    pub fields: Vec<(Atom, Term)>,
}

impl NativeRecord {
    /// Returns the value of a field.
    pub fn get(&self, field: &str) -> Option<&Term> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }
}
