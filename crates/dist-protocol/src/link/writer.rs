//! Writer task: writes all queued frames in one batch.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::link::ended::Ended;
use crate::link::shared::Shared;

/// Maximum capacity retained by the empty buffer.
const KEPT: usize = 256 << 10;

pub(super) async fn run<S: AsyncWrite + Unpin>(mut stream: S, shared: &Shared) -> Ended {
    let mut buffer = Vec::new();
    loop {
        let closing = {
            let mut state = shared.lock();
            state.out.swap(&mut buffer);
            state.in_flight = buffer.len();
            state.fragment_bytes_in_flight = std::mem::take(&mut state.fragment_bytes);
            state.answers.in_flight = std::mem::take(&mut state.answers.queued);
            let closing = state.closing && state.held_back.is_empty();
            state.writer_waits = buffer.is_empty() && !closing;
            closing
        };
        if buffer.is_empty() {
            if closing {
                // WHY the result is ignored: the link ends either way.
                let _ = stream.shutdown().await;
                return Ended::ByUs;
            }
            shared.to_write.notified().await;
            continue;
        }
        let written = async {
            let mut rest = &buffer[..];
            while !rest.is_empty() {
                let taken = stream.write(rest).await?;
                if taken == 0 {
                    return Err(ErrorKind::WriteZero.into());
                }
                // ORDER: relaxed: the ticker samples it, and an old value delays the end of a link by one check.
                shared.taken.fetch_add(1, Ordering::Relaxed);
                rest = &rest[taken..];
            }
            // An encrypting stream may buffer some of it.
            stream.flush().await
        };
        if let Err(error) = written.await {
            return Ended::Io(error.kind());
        }
        let bytes = buffer.len() as u64;
        buffer.clear();
        buffer.shrink_to(KEPT);
        let mut state = shared.lock();
        state.in_flight = 0;
        state.bytes_out += bytes;
        state.writes += 1;
        let had_portions = std::mem::take(&mut state.fragment_bytes_in_flight) > 0;
        let had_answers = std::mem::take(&mut state.answers.in_flight) > 0;
        let is_room =
            had_portions || had_answers || state.waiting() <= shared.settings.high_watermark / 2;
        shared.update_crowded(&state);
        drop(state);
        if is_room {
            shared.capacity.notify_waiters();
        }
    }
}
