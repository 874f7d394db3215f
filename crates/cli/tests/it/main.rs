//! Integration tests, linked into one program.

mod ack_forward;
mod ack_load;
mod ack_log;
mod ack_serve;
mod ack_tls;
mod advise;
mod bad_input;
mod cluster;
mod cluster_tls;
mod comparison;
mod conservation;
mod demo;
mod export;
mod generated;
#[path = "../../../lab/tests/it/support/honest.rs"]
mod honest;
mod interruption;
mod misbehaviour;
mod new;
mod observe;
mod options;
mod own_runtime;
mod pairs;
mod refusals;
mod results;
mod servers;
mod standard_error;
mod support;
mod ticker;
mod time;
