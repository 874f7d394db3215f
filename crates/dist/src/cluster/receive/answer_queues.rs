//! Requests of a peer that tasks answer, to supervisors and of `sys`: queued for each process.
//!
//! Those to one process are answered in order, one at a time. A peer that does not read thus causes at most one answer
//! for each process, while the process can answer another peer.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::ProcessId;
use tokio::runtime::Handle;

/// Answers a request. WHY a function: the future is larger.
pub(in crate::cluster) type Answer =
    Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// Queues of one connection. A process has one while a request to it is being answered.
#[derive(Clone, Default)]
pub(in crate::cluster) struct AnswerQueues(Arc<Mutex<HashMap<ProcessId, VecDeque<Answer>>>>);

impl AnswerQueues {
    fn queues(&self) -> MutexGuard<'_, HashMap<ProcessId, VecDeque<Answer>>> {
        // No code under the lock panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `answer` in a task, after those of the earlier requests to the process.
    pub(in crate::cluster) fn push(&self, runtime: &Handle, process: ProcessId, answer: Answer) {
        match self.queues().entry(process) {
            Entry::Occupied(mut queue) => queue.get_mut().push_back(answer),
            Entry::Vacant(queue) => {
                queue.insert(VecDeque::new());
                let (own, runtime_of_answers) = (self.clone(), runtime.clone());
                runtime.spawn(async move {
                    let mut next = Some(answer);
                    while let Some(answer) = next {
                        // WHY a task: a panic must not end the queue.
                        let _ = runtime_of_answers.spawn(answer()).await;
                        next = own.pop(process);
                    }
                });
            }
        }
    }

    /// Removes the next request to the process; removes the queue when it is empty.
    fn pop(&self, process: ProcessId) -> Option<Answer> {
        let mut queues = self.queues();
        let next = queues.get_mut(&process)?.pop_front();
        if next.is_none() {
            queues.remove(&process);
        }
        next
    }
}

impl fmt::Debug for AnswerQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerQueues").field("processes", &self.queues().len()).finish()
    }
}
