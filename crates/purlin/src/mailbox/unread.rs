//! Unread messages: what a process that ends leaves in its mailbox.

use crate::Process;
use crate::process::unwind::contain;
use crate::signals::local_state::LocalState;

/// Function for the unread messages of a process.
type OnUnread<M> = Box<dyn FnMut(M) + Send>;

impl<M: Send + 'static> Process<M> {
    /// Sets a function to which the messages that this process leaves unread are passed when it
    /// ends, oldest first and whatever the reason (M7): a worker's jobs can be queued again.
    ///
    /// ```
    /// use purlin::{Down, ExitReason, Message, Process, receive};
    ///
    /// #[derive(Message)]
    /// enum Queue {
    ///     Job(u32),
    ///     #[from]
    ///     Down(Down),
    /// }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Queue>) {
    ///     let queue = me.pid();
    ///     let (worker, _monitor) = me.spawn_monitor(async move |mut me: Process<u32>| {
    ///         me.on_unread(move |job| queue.send(Queue::Job(job)));
    ///         let urgent = receive!(me, { job if job >= 100 => job });
    ///         purlin::exit(ExitReason::error(format!("job {urgent} fails")));
    ///     });
    ///     [1, 2, 100].into_iter().for_each(|job| worker.send(job));
    ///
    ///     let mut unread = Vec::new();
    ///     while let Queue::Job(job) = me.receive().await {
    ///         unread.push(job);
    ///     }
    ///     // What the function has sent arrives before the `Down`.
    ///     assert_eq!(unread, [1, 2]);
    /// }
    /// ```
    ///
    /// A message that was accepted (`Ok` of [`Pid::try_send`](crate::Pid::try_send)) is either
    /// received, passed to this function or dropped at a bound. Down and exit signals and messages
    /// sent to an alias are for this process only and are not passed. Messages that are passed are
    /// not counted as dropped.
    ///
    /// The function runs on the worker, after the process's function and its destructors and before
    /// its links and monitors fire, which wait for it; so it must not block. It is in no process: it
    /// cannot receive, and what it sends to this process is dropped. A panic loses the message with
    /// which the function was called, and the others are still passed.
    ///
    /// Another call replaces the function. A process that is killed before it has called this method
    /// drops its messages, so call it before the first await: a supervised worker counts as started
    /// only then. A server calls it in its `init`; the function is passed its
    /// [`Mail`](crate::server::Mail).
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    ///
    /// COST: two allocations, and the extended state of the process; nothing for other processes.
    #[track_caller]
    pub fn on_unread(&self, function: impl FnMut(M) + Send + 'static) {
        let function: OnUnread<M> = Box::new(function);
        let replace =
            |local: &mut LocalState| local.extended().cold().on_unread.replace(Box::new(function));
        drop(self.with_local(replace));
    }
}

/// Passes a message of a process that has ended to its function for unread messages. Returns the
/// message if there is no such function.
pub(crate) fn pass_unread<M: Send + 'static>(local: &mut LocalState, message: M) -> Option<M> {
    let function = local.seen_cold().and_then(|cold| cold.on_unread.as_mut());
    match function.and_then(|function| function.downcast_mut::<OnUnread<M>>()) {
        None => Some(message),
        Some(function) => {
            contain(|| function(message));
            None
        }
    }
}
