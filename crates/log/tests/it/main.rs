//! Tests of the log on a simulated disk and on the file system.

mod common;
mod damage;
mod faults;
mod files;
mod limits;
mod live;
mod retention;
