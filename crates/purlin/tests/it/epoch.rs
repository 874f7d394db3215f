//! Destructors that other libraries defer to crossbeam's epoch-based collector, which also serves the
//! run queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_epoch::pin;
use purlin::{Node, Process, spawn};

use crate::common::{stop, until};
use crate::waiting::comes;

/// Number of processes that a deferred destructor wakes.
const WOKEN: usize = 20_000;
/// Limit of the destructors that remain in the threads that deferred them: crossbeam keeps up to 64
/// per thread until the thread defers or flushes again, and a worker may park until the node ends.
const KEPT: usize = 64 * 16;

#[test]
fn a_deferred_destructor_may_wake_a_process_while_a_worker_uses_its_queue() {
    let node = Node::builder().workers(4).build().expect("a node starts");
    let [deferred, received, destroyed] = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
    let counts = destroyed.clone();
    node.block_on(async move |_: Process<()>| {
        for _ in 0..WOKEN {
            let count = received.clone();
            let woken = spawn(async move |mut me: Process<()>| {
                me.receive().await;
                count.fetch_add(1, Ordering::Relaxed);
            });
            let (deferred, destroyed) = (deferred.clone(), counts.clone());
            spawn(async move |_: Process<()>| {
                pin().defer(move || {
                    woken.send(());
                    destroyed.fetch_add(1, Ordering::Relaxed);
                });
                deferred.fetch_add(1, Ordering::Relaxed);
            });
        }
        comes("all are woken but those of parked workers", || {
            spawn(async |_: Process<()>| pin().flush());
            deferred.load(Ordering::Relaxed) == WOKEN
                && received.load(Ordering::Relaxed) >= WOKEN - KEPT
        })
        .await;
    });
    stop(&node);
    // The threads of the node have ended, and each has left its destructors to the others.
    until("all destructors have run", || {
        pin().flush();
        destroyed.load(Ordering::Relaxed) == WOKEN
    });
}
