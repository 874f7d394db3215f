//! Control message template: the encoding is stored and copied for the next message.
//!
//! The stored encoding is valid as long as no entry of the atom cache changes, which is the usual case once all atoms
//! are cached.

use crate::control::Control;

/// A control message that is sent repeatedly, with its last encoding.
#[derive(Debug)]
pub struct ControlTemplate {
    control: Control,
    /// The last encoding of the header and the control message.
    beginning: Vec<u8>,
    /// The encoder it was written to, and the version of its atom cache.
    written: Option<(u64, u64)>,
}

/// A control message to send.
#[derive(Debug)]
pub enum OutgoingControl<'a> {
    /// Sent once.
    Once(&'a Control),
    /// Sent repeatedly, by a template.
    Again(&'a mut ControlTemplate),
}

impl<'a> From<&'a Control> for OutgoingControl<'a> {
    fn from(control: &'a Control) -> Self {
        Self::Once(control)
    }
}

impl<'a> From<&'a mut ControlTemplate> for OutgoingControl<'a> {
    fn from(control: &'a mut ControlTemplate) -> Self {
        Self::Again(control)
    }
}

impl OutgoingControl<'_> {
    /// Borrows the control message again.
    pub(crate) fn reborrow(&mut self) -> OutgoingControl<'_> {
        match self {
            Self::Once(control) => OutgoingControl::Once(control),
            Self::Again(control) => OutgoingControl::Again(control),
        }
    }

    /// The control message.
    #[must_use]
    pub fn control(&self) -> &Control {
        match self {
            Self::Once(control) => control,
            Self::Again(control) => control.control(),
        }
    }
}

impl ControlTemplate {
    /// Creates a template without a stored encoding.
    #[must_use]
    pub fn new(control: Control) -> Self {
        Self { control, beginning: Vec::new(), written: None }
    }

    /// The control message.
    #[inline]
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

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
