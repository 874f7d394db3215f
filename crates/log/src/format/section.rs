//! Sections: the blocks in the body of a batch, each with the state of its client.

use super::fields::Fields;
use crate::Error;
use crate::record::{Block, Client, Message, Messages, Refusal};

const WITHOUT: u8 = 0;
const SESSION: u8 = 1;
/// Length of a section without refusals and messages in bytes.
const FIXED: usize = 45;
/// Length of a refusal in bytes.
const REFUSAL: usize = 12;

/// Block with the state of its client.
#[derive(Clone, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) client: Option<Client>,
    /// Newest answered message, if the client has a session and the section is not empty.
    pub(crate) newest: u64,
    pub(crate) refused: Vec<Refusal>,
    pub(crate) records: u32,
    pub(crate) messages: Messages<'a>,
}

impl<'a> Section<'a> {
    /// Returns the section of a block.
    pub(crate) fn of(block: &Block<'a>) -> Result<Self, Error> {
        let messages = Messages::new(block.messages);
        let (mut rest, mut records, mut newest) = (messages.clone(), 0, 0);
        for Message { id, .. } in &mut rest {
            records += 1;
            newest = newest.max(id);
        }
        if !rest.rest().is_empty() {
            return Err(Error::Malformed);
        }
        newest = block.refused.iter().map(|refusal| refusal.id).fold(newest, u64::max);
        let refused = block.refused.to_vec();
        Ok(Self { client: block.client, newest, refused, records, messages })
    }

    /// Returns whether the section has no messages and no refusals.
    pub(crate) fn is_empty(&self) -> bool {
        self.records == 0 && self.refused.is_empty()
    }

    /// Removes the messages and refusals up to this id. The ids of a session ascend.
    pub(crate) fn remove_up_to(&mut self, stored: u64) {
        while self.messages.clone().next().is_some_and(|Message { id, .. }| id <= stored) {
            self.messages.next();
            self.records -= 1;
        }
        self.refused.retain(|Refusal { id, .. }| *id > stored);
    }

    /// Returns the encoded length in bytes.
    pub(crate) fn length(&self) -> u64 {
        (FIXED + REFUSAL * self.refused.len() + self.messages.rest().len()) as u64
    }

    /// Appends the section.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let Self { client, newest, refused, records, messages } = self;
        out.push(if client.is_some() { SESSION } else { WITHOUT });
        let Client { id, epoch } = client.unwrap_or_default();
        out.extend(id);
        out.extend(epoch.to_le_bytes());
        out.extend(newest.to_le_bytes());
        out.extend((refused.len() as u32).to_le_bytes());
        out.extend(records.to_le_bytes());
        out.extend((messages.rest().len() as u32).to_le_bytes());
        refusals(refused, out);
        out.extend_from_slice(messages.rest());
    }
}

/// Appends refusals.
pub(crate) fn refusals(refused: &[Refusal], out: &mut Vec<u8>) {
    for Refusal { id, reason } in refused {
        out.extend(id.to_le_bytes());
        out.extend(reason.to_le_bytes());
    }
}

/// Takes `count` refusals. Returns `None` if fewer remain.
pub(crate) fn take_refusals(fields: &mut Fields<'_>, count: u32) -> Option<Vec<Refusal>> {
    let mut bytes = Fields(fields.bytes(REFUSAL.checked_mul(count as usize)?)?);
    (0..count).map(|_| Some(Refusal { id: bytes.u64()?, reason: bytes.u32()? })).collect()
}

/// Decodes the body of a batch. Returns `None` if it is not a sequence of whole sections with this
/// number of records.
pub(crate) fn decode(body: &[u8], records: u32) -> Option<Vec<Section<'_>>> {
    let (mut fields, mut sections, mut found) = (Fields(body), Vec::new(), 0_u64);
    while !fields.0.is_empty() {
        let section = take(&mut fields)?;
        found += u64::from(section.records);
        sections.push(section);
    }
    (found == u64::from(records)).then_some(sections)
}

fn take<'a>(fields: &mut Fields<'a>) -> Option<Section<'a>> {
    let kind = fields.u8()?;
    let client = Client { id: fields.id()?, epoch: fields.u64()? };
    let client = match kind {
        WITHOUT => None,
        SESSION => Some(client),
        _ => return None,
    };
    let newest = fields.u64()?;
    let (refusals, records, length) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let refused = take_refusals(fields, refusals)?;
    let messages = Messages::new(fields.bytes(length as usize)?);
    let mut counted = messages.clone();
    let count = counted.by_ref().count();
    let whole = counted.rest().is_empty() && count == records as usize;
    whole.then_some(Section { client, newest, refused, records, messages })
}
