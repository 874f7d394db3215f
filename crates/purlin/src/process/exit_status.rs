//! Exit status that the cell of an ended process keeps.

use crate::process::unwind::contain;

use crate::ExitReason;

/// Exit status of a process. WHY: not the exit reason, because nearly all processes end with
/// `normal`, which is a null pointer here.
#[derive(Debug, Default)]
pub(crate) struct ExitStatus(Option<Box<Reason>>);

/// Exit reason other than `normal`.
#[derive(Debug)]
struct Reason(ExitReason);

impl ExitStatus {
    #[inline]
    pub(crate) fn new(reason: ExitReason) -> Self {
        match reason {
            ExitReason::Normal => Self(None),
            reason => Self(Some(Box::new(Reason(reason)))),
        }
    }

    #[inline]
    pub(crate) fn is_normal(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn reason(&self) -> ExitReason {
        self.0.as_ref().map_or(ExitReason::Normal, |reason| reason.0.clone())
    }
}

impl Drop for Reason {
    /// WHY: `contain`, because a reason may hold an error of user code. It is dropped with its
    /// cell, on the thread that drops the last reference.
    fn drop(&mut self) {
        let reason = std::mem::replace(&mut self.0, ExitReason::Normal);
        contain(|| drop(reason));
    }
}
