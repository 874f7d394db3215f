//! Memory of cells and envelopes: free lists, and trimming, which returns free memory to the
//! operating system.

pub(crate) mod erased;
pub(crate) mod pool;
pub(crate) mod pooled;
pub(crate) mod trim;
