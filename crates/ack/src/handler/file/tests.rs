//! Tests of the handler on the file system.

use purlin_log::simulated::{Disk, Fault};

use super::*;
use crate::wire::Id;
use crate::wire::frames::summarize;

fn messages(order: SizeOrder, payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, payload) in (0_u64..).zip(payloads) {
        let size = payload.len() as u32;
        bytes.extend(Head { id: Id::from(id), size }.to_bytes(order));
        bytes.extend_from_slice(payload);
    }
    bytes
}

fn batch(bytes: &[u8], order: SizeOrder) -> Batch<'_> {
    Batch::new(bytes, summarize(bytes, order, u32::MAX), order, Level::Durable)
}

#[test]
fn stored_position_includes_queued_writes_and_log_is_locked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let node = Node::builder().workers(1).build().expect("a node starts");
    let file = File::open(&node, &path).expect("it can be written");
    let session = Session { client: [7; 16], epoch: 1 };
    let (mut one, mut other) = (file.clone(), file);
    let stored = node.block_on(async move |_: purlin::Process<()>| {
        let mut stored = Vec::new();
        for id in 0..20_u64 {
            let bytes = Head { id: Id::from(id), size: 0 }.to_bytes(SizeOrder::Little);
            let batch = batch(&bytes, SizeOrder::Little).of(session, Level::Handled);
            // Both requests are in the mailbox before either is answered.
            let (handled, asked) = tokio::join!(one.handle(batch), other.stored(session.client));
            handled.expect("it is written");
            stored.push(asked.expect("the log works").map(|stored| stored.newest));
        }
        stored
    });
    assert!(stored.into_iter().eq((0..20).map(Some)));

    let line = File::open(&node, &path).expect_err("it is locked").to_string();
    assert!(line.ends_with(" is open already, in this program or another"), "{line}");
    node.stop_blocking();
}

#[test]
fn payload_over_the_limit_is_refused_and_the_others_are_stored() {
    for order in [SizeOrder::Little, SizeOrder::Big] {
        let bytes = messages(order, &[b"a", b"four", b"b"]);
        let batch = batch(&bytes, order).of(Session { client: [7; 16], epoch: 1 }, Level::Durable);
        let (block, refused) = block(&batch, 3);
        assert_eq!(refused, [Refusal { id: 1, reason: Reason::TOO_LARGE }]);
        assert_eq!(block.refused, [purlin_log::Refusal { id: 1, reason: 1 }]);
        let mut kept = messages(SizeOrder::Little, &[b"a"]);
        kept.extend(&messages(SizeOrder::Little, &[b"", b"", b"b"])[24..]);
        assert_eq!(block.messages, kept);
    }
}

#[test]
fn blocks_have_little_endian_sizes() {
    let bytes = messages(SizeOrder::Big, &[b"hello", b""]);
    let (block, refused) = block(&batch(&bytes, SizeOrder::Big), LARGEST_PAYLOAD);
    assert_eq!(block.messages, messages(SizeOrder::Little, &[b"hello", b""]));
    assert_eq!((block.client, refused.len(), block.durable), (None, 0, true));
}

#[test]
fn nothing_is_stored_after_a_failed_sync_until_the_log_is_opened_again() {
    for fault in [Fault::NoSpace, Fault::WriteError, Fault::SyncError, Fault::ReadOnly] {
        let disk = Disk::new(1);
        let open = |disk: &Disk| Log::open_on(Arc::new(disk.clone()), Options::default());
        let node = Node::builder().workers(1).build().expect("a node starts");
        let mut file = File::start(&node, open(&disk).expect("it is new")).expect("there is room");
        let failing = disk.clone();
        node.block_on(async move |mut me: purlin::Process<purlin::Down>| {
            let bytes = messages(SizeOrder::Little, &[b"hello"]);
            let session = Session { client: [7; 16], epoch: 1 };
            let batch = batch(&bytes, SizeOrder::Little).of(session, Level::Durable);
            assert_eq!(file.handle(batch).await, Ok(()));
            failing.fail(1, fault);
            for _ in 0..3 {
                let handled = file.handle(batch).await;
                assert!(matches!(handled, Err(Unhandled::Failed(_))), "{fault:?}: {handled:?}");
            }
            let stored = file.stored(session.client).await;
            assert!(stored.is_err(), "{fault:?}: {stored:?}");
            me.monitor(file.process());
            me.receive().await;
        });
        // The writer has ended and released the lock.
        assert!(!matches!(open(&disk), Err(purlin_log::Error::Locked { .. })), "{fault:?}");
        node.stop_blocking();
        let mut log = open(&disk.power_loss()).expect("a crash damages nothing");
        assert!(log.position([7; 16]).expect("it works").is_some(), "{fault:?}");
    }
}

#[test]
fn writer_that_is_asked_to_end_reports_a_failed_sync() {
    for fault in [None, Some(Fault::SyncError)] {
        let disk = Disk::new(1);
        let log = Log::open_on(Arc::new(disk.clone()), Options::default()).expect("it is new");
        let node = Node::builder().workers(1).build().expect("a node starts");
        let mut file = File::start(&node, log).expect("there is room");
        let on = node.clone();
        let reason = node.block_on(async move |mut me: purlin::Process<purlin::Down>| {
            let bytes = messages(SizeOrder::Little, &[b"hello"]);
            let session = Session { client: [7; 16], epoch: 1 };
            let batch = batch(&bytes, SizeOrder::Little).of(session, Level::Handled);
            assert_eq!(file.handle(batch).await, Ok(()));
            if let Some(fault) = fault {
                disk.fail(1, fault);
            }
            me.monitor(file.process());
            on.exit(file.process(), ExitReason::Shutdown);
            me.receive().await.reason
        });
        assert_eq!(reason == ExitReason::Shutdown, fault.is_none(), "{fault:?}: {reason}");
        node.stop_blocking();
    }
}
