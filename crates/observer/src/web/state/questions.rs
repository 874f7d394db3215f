//! Questions to processes about their details, of which at most one per process is unanswered.
//!
//! A process answers in its next turn. Each question is a signal in its inbox, so repeated questions to a process that
//! does not await would fill it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::{Node, ProcessDetails, ProcessId};
use tokio::sync::watch;

type Answer = watch::Receiver<Option<Arc<ProcessDetails>>>;

/// The unanswered questions. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<HashMap<ProcessId, Answer>>>);

/// Removes a question when dropped.
struct Unanswered {
    questions: Questions,
    id: ProcessId,
}

impl Questions {
    /// Asks a process for its details, or waits for the answer to an unanswered question. Returns `None` if the process
    /// has ended.
    ///
    /// *Cancellation*: the question stays until the process answers it or ends.
    pub(crate) async fn details(&self, node: &Node, id: ProcessId) -> Option<Arc<ProcessDetails>> {
        let mut answer = self.ask(node, id);
        let answered = answer.wait_for(Option::is_some).await.ok()?;
        answered.clone()
    }

    fn ask(&self, node: &Node, id: ProcessId) -> Answer {
        let (sender, answer) = watch::channel(None);
        match self.lock().entry(id) {
            Entry::Occupied(unanswered) => return unanswered.get().clone(),
            Entry::Vacant(place) => place.insert(answer.clone()),
        };
        let question = Unanswered { questions: self.clone(), id };
        let details = node.process_details(id);
        // WHY without the lock: a runtime that shuts down drops the task, and the question, here.
        tokio::spawn(async move {
            let details = details.await;
            drop(question);
            sender.send_replace(details.map(Arc::new));
        });
        answer
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProcessId, Answer>> {
        // WHY: no code panics while the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.questions.lock().remove(&self.id);
    }
}
