//! Exit status that the cell of an ended process keeps.

use crate::ExitReason;

/// Exit status of a process. WHY: not the exit reason, because nearly all processes end with
/// `normal`, which is a null pointer here.
#[derive(Debug, Default)]
pub(crate) struct ExitStatus(Option<Box<ExitReason>>);

impl ExitStatus {
    #[inline]
    pub(crate) fn new(reason: ExitReason) -> Self {
        match reason {
            ExitReason::Normal => Self(None),
            reason => Self(Some(Box::new(reason))),
        }
    }

    #[inline]
    pub(crate) fn is_normal(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn reason(&self) -> ExitReason {
        self.0.as_ref().map_or(ExitReason::Normal, |reason| (**reason).clone())
    }
}
