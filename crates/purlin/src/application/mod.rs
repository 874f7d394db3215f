//! Applications: supervision trees that start and stop as a unit (G4).
//!
//! An [`ApplicationSpec`] names a top supervisor. For each started application the node runs an
//! *application master*: the process that is the supervisor's parent and calls the hooks before and
//! after the tree stops. The node keeps its applications in start order. A node that stops first
//! stops them in reverse order, before it sends exit signals to the other processes (E1). [`run`]
//! covers the whole life of a program that is one application, from start to SIGTERM.
//!
//! | file | role |
//! |---|---|
//! | `spec` | application specification |
//! | `table` | table of a node's applications, and their handles |
//! | `master` | application master |
//! | `controller` | application controller: start, list, stop |
//! | `run` | entry point of a program that is one application |

mod controller;
mod master;
mod run;
mod spec;
mod table;

pub use run::run;
pub use spec::{ApplicationSpec, ApplicationType};
pub(crate) use table::Applications;
pub use table::{ApplicationError, ApplicationRef};
