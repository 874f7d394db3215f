//! Atom table of a message, for atom cache references.

use crate::Atom;

/// Atoms of a message by index: a slice, or positions in one.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtomTable<'a> {
    slots: Option<&'a [u16]>,
    atoms: &'a [Atom],
}

impl<'a> AtomTable<'a> {
    /// Creates a table of the atoms at these positions, in this order.
    pub fn of_slots(slots: &'a [u16], atoms: &'a [Atom]) -> Self {
        Self { slots: Some(slots), atoms }
    }

    /// Returns the atom with an index.
    #[inline]
    pub fn get(self, index: u8) -> Option<&'a Atom> {
        let index = usize::from(index);
        let slot = match self.slots {
            Some(slots) => usize::from(*slots.get(index)?),
            None => index,
        };
        self.atoms.get(slot)
    }

    /// Returns whether the table is empty.
    pub fn is_empty(self) -> bool {
        self.slots.map_or(self.atoms.is_empty(), <[u16]>::is_empty)
    }

    /// Returns a copy of the atoms.
    pub fn to_vec(self) -> Vec<Atom> {
        match self.slots {
            Some(slots) => slots.iter().map(|at| self.atoms[usize::from(*at)].clone()).collect(),
            None => self.atoms.to_vec(),
        }
    }
}

impl<'a, T: AsRef<[Atom]> + ?Sized> From<&'a T> for AtomTable<'a> {
    fn from(atoms: &'a T) -> Self {
        Self { slots: None, atoms: atoms.as_ref() }
    }
}
