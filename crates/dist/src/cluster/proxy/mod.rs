//! Proxies: local processes that represent remote ones.

pub(super) mod gone;
pub(super) mod lookup;
pub(super) mod registry;
pub(super) mod remote;
