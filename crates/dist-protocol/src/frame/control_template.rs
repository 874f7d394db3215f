//! Control message template: the encoding is stored and copied for the next message.
//!
//! The stored encoding is valid as long as no entry of the atom cache changes, which is the usual case once all atoms
//! are cached.

use crate::control::Control;

/// A control message that is sent repeatedly, with its last encoding.
#[derive(Debug)]
pub struct ControlTemplate {
    control: Control,
    encoding: Encoding,
}

/// The last encoding of a template.
#[derive(Debug, Default)]
pub(super) struct Encoding {
    /// Header and control message.
    beginning: Vec<u8>,
    /// The encoder they were written to, and the version of its atom cache.
    written: Option<(u64, u64)>,
}

/// A control message to send: once, or repeatedly by a template.
#[derive(Debug)]
pub struct OutgoingControl<'a> {
    pub(crate) control: &'a Control,
    pub(super) encoding: Option<&'a mut Encoding>,
}

impl<'a> From<&'a Control> for OutgoingControl<'a> {
    #[inline]
    fn from(control: &'a Control) -> Self {
        Self { control, encoding: None }
    }
}

impl<'a> From<&'a mut ControlTemplate> for OutgoingControl<'a> {
    #[inline]
    fn from(ControlTemplate { control, encoding }: &'a mut ControlTemplate) -> Self {
        Self { control, encoding: Some(encoding) }
    }
}

impl ControlTemplate {
    /// Creates a template without a stored encoding.
    #[must_use]
    pub fn new(control: Control) -> Self {
        Self { control, encoding: Encoding::default() }
    }
}

impl Encoding {
    /// The stored encoding, if it is valid for this encoder and cache version.
    pub(super) fn beginning(&self, number: u64, changes: u64) -> Option<&[u8]> {
        (self.written == Some((number, changes))).then_some(&self.beginning)
    }

    pub(super) fn was_written(&mut self, number: u64, changes: u64, beginning: &[u8]) {
        self.written = Some((number, changes));
        self.beginning.clear();
        self.beginning.extend_from_slice(beginning);
    }
}
