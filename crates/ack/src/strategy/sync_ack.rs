//! Strategy sync-ack: acknowledges each read before the next one.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::yield_now;

use super::taking::{acknowledge, needed, take, whole};
use super::{BLOCK, LITTLE};
use crate::handler::Handler;
use crate::inbuf::InBuf;
use crate::owed::Owed;
use crate::server::ending::End;
use crate::server::reader::{Amount, Reader};
use crate::server::shared::Shared;

pub(super) async fn run<H: Handler>(
    reader: &mut Reader,
    mut handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, End> {
    let mut buffer = InBuf::growing(LITTLE, BLOCK);
    let mut owed = Owed::default();
    loop {
        let missing = needed(buffer.waiting(), shared)?;
        reader.fill(&mut buffer, missing, Amount::Available).await?;
        let batch = whole(buffer.waiting(), shared);
        let found = batch.skimmed();
        if found.frames > 0 {
            reader.heard();
            let taken = take(&mut handler, batch, &mut owed).await;
            acknowledge(reader, &mut owed, &shared.counters).await?;
            taken?;
            buffer.used(found.used);
        }
        // WHY: a connection that always has data to read must not starve other processes.
        yield_now().await;
    }
}
