//! Node core: the process table together with its host and the node state.
//!
//! A cell points to its node core without counting, because counting would cost every spawn an
//! atomic operation on one contended word. Instead:
//!
//! INVARIANT: a node core's memory stays valid while a handle on it exists or a process is in its
//! table. The last handle frees the node core if the table is empty. Otherwise, if a process has
//! not ended, the node core is leaked, and a sender to that process still finds it: the number of
//! handles never rises from 0, and a slot is vacated only while a handle exists.
//!
//! A process can be scheduled only while it is in the table, so the thread that schedules it finds
//! the node core. The host may run the process to its end before `schedule` returns. A worker holds
//! a handle while it is one; any other thread takes one for the duration of the call, and for the
//! end of a process that it runs.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::RuntimeTypes;
use crate::process::address::{Address, Ref};
use crate::process::body::{Body, furnish, vtable};
use crate::process::cell::{self, Base, Front, Host, NodeCoreBase};
use crate::process::code::Code;
use crate::process::deferred_rc;
use crate::process::node_base::NodeCoreInner;
use crate::process::owner::{InTurn, Owner};
use crate::process::snapshot::Snapshot;
use crate::sync::{AtomicUsize, Ordering, UnsafeCell};
use crate::table::entry::TABLE_REFERENCES;
use crate::table::{Slot, Table};

/// Handle on a node core: a process table, its host and the node state.
pub struct NodeCore<W: RuntimeTypes> {
    inner: NonNull<NodeCoreInner<W>>,
    types: PhantomData<W>,
}

/// Error: the table is full. Holds the `stuff` passed to [`NodeCore::spawn`].
#[derive(Debug)]
pub struct SpawnError<F>(pub F);

// SAFETY: a node core is a table of atomics, a host and a node state, all of them `Send` and
// `Sync`.
unsafe impl<W: RuntimeTypes> Send for NodeCore<W> {}
// SAFETY: as above.
unsafe impl<W: RuntimeTypes> Sync for NodeCore<W> {}

/// Maximum number of processes in a node core.
pub const MAX_PROCESSES: u32 = Table::<Base>::GREATEST;

/// # Safety
/// `node_core` is a leaked box of this same type, to which no reference remains.
unsafe fn free<W: RuntimeTypes>(node_core: NonNull<NodeCoreBase>) {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(node_core.cast::<NodeCoreInner<W>>().as_ptr()) });
}

/// Body of a placeholder process.
struct Never;

impl<W: RuntimeTypes, M: Send + 'static> Body<W, M> for Never {
    type Bound = ();
    type Future = Infallible;

    fn turn(_: Code<'_, Self>, _: InTurn<'_, W, M>, _: &mut Context<'_>) -> Poll<W::ExitStatus> {
        Poll::Pending
    }

    fn name() -> &'static str {
        "never started"
    }
}

impl<W: RuntimeTypes> Clone for NodeCore<W> {
    fn clone(&self) -> Self {
        self.inner().base.handles.fetch_add(1, Ordering::Relaxed);
        Self { inner: self.inner, types: PhantomData }
    }
}

impl<W: RuntimeTypes> Drop for NodeCore<W> {
    fn drop(&mut self) {
        // SAFETY: the handle was counted.
        unsafe { NodeCoreBase::release(self.inner.cast()) }
    }
}

impl<W: RuntimeTypes> std::fmt::Debug for NodeCore<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NodeCore")
    }
}

impl<W: RuntimeTypes> NodeCore<W> {
    /// Creates a node core of at most `limit` processes, for a host with `workers` workers.
    pub fn new(host: Box<dyn Host>, node_state: W::NodeState, limit: u32, workers: usize) -> Self {
        let base = NodeCoreBase {
            handles: AtomicUsize::new(1),
            host,
            free: free::<W>,
            table: Table::new(limit, workers),
        };
        let inner = Box::new(NodeCoreInner { base, state: node_state });
        Self { inner: NonNull::from(Box::leak(inner)), types: PhantomData }
    }

    fn inner(&self) -> &NodeCoreInner<W> {
        // SAFETY: the handle keeps the node core alive.
        unsafe { self.inner.as_ref() }
    }

    /// Returns the state shared by all processes of the node core.
    pub fn state(&self) -> &W::NodeState {
        &self.inner().state
    }

    /// Makes this thread a worker of the node core while `f` runs: it has a slot cache and defers
    /// reference counting.
    ///
    /// # Panics
    /// Panics if the thread is a worker of a node core already.
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Worker<'a>(&'a NodeCoreBase);
        impl Drop for Worker<'_> {
            fn drop(&mut self) {
                deferred_rc::close();
                deferred_rc::flush();
                self.0.leave();
            }
        }
        self.inner().base.enter();
        let _worker = Worker(&self.inner().base);
        deferred_rc::open();
        f()
    }

    /// Creates a process with private state `local` and mailbox bound `bound`, and schedules it.
    /// `make` builds its body from `stuff` and the process's own handle; if it panics, the cell and
    /// its slot are leaked. Returns `stuff` if the table is full.
    ///
    /// COST: one allocation, one compare-and-swap for the slot, and the cost of the host's queue.
    #[inline]
    pub fn spawn<M, B, F>(
        &self,
        shared: W::Shared,
        local: W::Local,
        bound: B::Bound,
        stuff: F,
        make: impl FnOnce(F, Owner<W, M>) -> B,
    ) -> Result<Address<W, M>, SpawnError<F>>
    where
        M: Send + 'static,
        B: Body<W, M>,
    {
        // SAFETY: this handle keeps the node core alive.
        let new = unsafe { NodeCoreBase::begin(self.inner.cast(), vtable::<W, M, B>()) };
        let Some((base, reserved)) = new else { return Err(SpawnError(stuff)) };
        // SAFETY: the block was taken for cells of this vtable.
        let cell = unsafe { furnish::<W, M, B>(base, shared, local, bound) };
        // SAFETY: the cell counts a reference for its owner, and has these types.
        let body = make(stuff, unsafe { Owner::new(base) });
        // SAFETY: no other thread has a reference to the cell yet.
        // WHY no `with_mut`: the place is uninitialised.
        unsafe {
            (&raw mut (*cell.as_ptr()).code).cast::<UnsafeCell<B>>().write(UnsafeCell::new(body));
        }
        // SAFETY: the cell counts a reference for this address, and has these types.
        let address = unsafe { Address::new(base) };
        // SAFETY: the cell is whole, and this handle keeps the node core alive.
        unsafe { NodeCoreBase::launch(self.inner.cast(), base, reserved) };
        Ok(address)
    }

    /// Creates a placeholder for a failed spawn: never in the table, never runs; every send fails.
    /// `number` distinguishes placeholders.
    pub fn spawn_ended<M: Send + 'static>(
        &self,
        number: u32,
        shared: W::Shared,
        exit_status: W::ExitStatus,
    ) -> Address<W, M> {
        let slot = Slot::new(u32::MAX - 1, number);
        let (node_core, vtable) = (self.inner.cast(), vtable::<W, M, Never>());
        let base: NonNull<Base> = vtable.block.take().cast();
        // SAFETY: the block is for a cell with this vtable, and a cell starts with its base.
        unsafe { base.write(Base::new(vtable, node_core, slot)) };
        // SAFETY: no other reference to the cell is in use. The references of the table and the owner
        // are released here, and the third is the address's. The exit status is written before the inbox closes.
        unsafe {
            furnish::<W, M, Never>(base, shared, W::Local::default(), ());
            cell::exit_status::<W>(base).write(UnsafeCell::new(exit_status));
            let nothing = base.as_ref().inbox.close();
            debug_assert_eq!(nothing.len, 0);
            deferred_rc::count_down(base, TABLE_REFERENCES + 1);
            Address::new(base)
        }
    }

    /// Returns a reference to the process in a slot, if it lives.
    pub fn find(&self, slot: Slot) -> Option<Ref<W>> {
        self.inner().base.table.look_up(slot, |base| {
            // SAFETY: the look-up keeps the cell alive; the handle takes over the reference counted
            // here.
            unsafe {
                deferred_rc::retain(base);
                Ref::new(base)
            }
        })
    }

    /// Returns the maximum number of processes.
    pub fn limit(&self) -> u32 {
        self.inner().base.table.limit()
    }

    /// Iterates over the live processes; others may come and go concurrently.
    pub fn processes(&self) -> impl Iterator<Item = Ref<W>> + '_ {
        self.inner().base.table.slots().filter_map(|slot| self.find(slot))
    }

    /// Takes a snapshot of each live process in `most` slots from index `from` on. Returns the
    /// index to continue from, or `None` at the end of the table. `of_shared` copies what is needed
    /// of the shared state and does nothing else; `take` may do anything.
    ///
    /// COST: as [`NodeCore::find`] for each, without the reference; nothing is allocated.
    pub fn snapshots<S>(
        &self,
        from: u32,
        most: u32,
        of_shared: impl Fn(&W::Shared) -> S,
        mut take: impl FnMut(Snapshot, S),
    ) -> Option<u32> {
        let visit = |base: NonNull<Base>| {
            // SAFETY: the cell is of this type family, and the look-up keeps it alive.
            unsafe {
                (Snapshot::at(base.as_ref()), of_shared(&base.cast::<Front<W>>().as_ref().shared))
            }
        };
        self.inner().base.table.walk(from, most, visit, |(snapshot, shared)| take(snapshot, shared))
    }

    /// Returns how many slots the table has handed out, which is where [`NodeCore::snapshots`]
    /// ends.
    pub fn slots_used(&self) -> u32 {
        self.inner().base.table.used()
    }

    /// Returns the number of live processes, including slots that workers have cached.
    pub fn len_hint(&self) -> u32 {
        self.inner().base.table.taken()
    }

    /// Returns whether no process lives. Exact if no thread spawns concurrently.
    pub fn is_empty(&self) -> bool {
        self.inner().base.table.is_empty()
    }
}
