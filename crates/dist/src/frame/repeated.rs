//! A control message that is said again and again: what it was written as is kept, and copied the next time.
//!
//! That holds as long as the atoms keep their places in the cache, which they do once all have been told.

use crate::control::Control;

/// A control message that is said again and again.
#[derive(Debug)]
pub struct Repeated {
    control: Control,
    /// The header and itself, as they were written the last time.
    beginning: Vec<u8>,
    /// Where that was, and how the cache was then.
    written: Option<(u64, u64)>,
}

/// A control message to be said.
#[derive(Debug)]
pub enum Say<'a> {
    /// Once.
    Once(&'a Control),
    /// As it was before, and will be.
    Again(&'a mut Repeated),
}

impl<'a> From<&'a Control> for Say<'a> {
    fn from(control: &'a Control) -> Self {
        Self::Once(control)
    }
}

impl<'a> From<&'a mut Repeated> for Say<'a> {
    fn from(control: &'a mut Repeated) -> Self {
        Self::Again(control)
    }
}

impl Say<'_> {
    /// The same, to be said while this is kept.
    pub(crate) fn reborrow(&mut self) -> Say<'_> {
        match self {
            Self::Once(control) => Say::Once(control),
            Self::Again(control) => Say::Again(control),
        }
    }

    /// What it is.
    #[must_use]
    pub fn control(&self) -> &Control {
        match self {
            Self::Once(control) => control,
            Self::Again(control) => control.control(),
        }
    }
}

impl Repeated {
    /// A control message that was not said yet.
    #[must_use]
    pub fn new(control: Control) -> Self {
        Self { control, beginning: Vec::new(), written: None }
    }

    /// What it is.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// What a frame begins with whose cache is like this, if that is known.
    pub(super) fn beginning(&self, number: u64, changes: u64) -> Option<&[u8]> {
        (self.written == Some((number, changes))).then_some(&self.beginning)
    }

    pub(super) fn was_written(&mut self, number: u64, changes: u64, beginning: &[u8]) {
        self.written = Some((number, changes));
        self.beginning.clear();
        self.beginning.extend_from_slice(beginning);
    }
}
