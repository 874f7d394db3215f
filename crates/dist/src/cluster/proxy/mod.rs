//! Proxies: local processes that represent remote ones.
//!
//! | file | contents |
//! |---|---|
//! | `lookup` | finds or creates the proxy of a remote process |
//! | `registry` | table of proxies; ends unused ones |
//! | `remote` | transport of a proxy: encodes messages and signals for the connection |
//! | `gone` | notification when a remote process has ended |

pub(super) mod gone;
pub(super) mod lookup;
pub(super) mod registry;
pub(super) mod remote;
