//! Links and monitors between local and remote processes.

pub(super) mod agent;
pub(super) mod monitor_table;
pub(super) mod remote_link;
pub(super) mod remote_links;

#[cfg(test)]
mod tests;
