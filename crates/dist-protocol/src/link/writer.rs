//! Writer task: writes all queued frames, and the next fragments of large messages, in one batch.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;

use bytes::Buf;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tracing::error;

use crate::frame::Frames;
use crate::link::ended::Ended;
use crate::link::shared::Shared;

/// Maximum capacity retained by the empty buffer.
const KEPT: usize = 256 << 10;

pub(super) async fn run<S: AsyncWrite + Unpin>(mut stream: S, shared: &Shared) -> Ended {
    let mut frames = Frames::default();
    loop {
        let (closing, added) = {
            let mut state = shared.lock();
            let added = state.add_held();
            if added.has_sent {
                shared.update_crowded(&state);
            }
            state.out.swap(&mut frames);
            state.in_flight = frames.remaining();
            state.answers.in_flight = std::mem::take(&mut state.answers.queued);
            let closing = state.closing && state.held_back.is_empty();
            state.writer_waits = state.in_flight == 0 && !closing;
            (closing, added)
        };
        // The sender no longer waits for a result.
        for unsendable in added.unsendable {
            error!(peer = %shared.peer.peer, "a message was dropped: {unsendable}");
        }
        if added.has_sent {
            shared.capacity.notify_waiters();
        }
        let bytes = frames.remaining() as u64;
        if bytes == 0 {
            if closing {
                // WHY the result is ignored: the link ends either way.
                let _ = stream.shutdown().await;
                return Ended::ByUs;
            }
            shared.to_write.notified().await;
            continue;
        }
        let written = async {
            while frames.has_remaining() {
                if stream.write_buf(&mut frames).await? == 0 {
                    return Err(ErrorKind::WriteZero.into());
                }
                // ORDER: relaxed: the ticker samples it, and an old value delays the end of a link by one check.
                shared.taken.fetch_add(1, Ordering::Relaxed);
            }
            // An encrypting stream may buffer some of it.
            stream.flush().await
        };
        if let Err(error) = written.await {
            return Ended::Io(error.kind());
        }
        frames.clear(KEPT);
        let mut state = shared.lock();
        state.in_flight = 0;
        state.bytes_out += bytes;
        state.writes += 1;
        let had_answers = std::mem::take(&mut state.answers.in_flight) > 0;
        let is_room = had_answers || state.waiting() <= shared.settings.high_watermark / 2;
        shared.update_crowded(&state);
        drop(state);
        if is_room {
            shared.capacity.notify_waiters();
        }
    }
}
