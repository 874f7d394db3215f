//! Command-line arguments.

use clap::{Parser, Subcommand};
use purlin_lab::commands::Lab;

use crate::ack::Ack;
use crate::cluster::{Call, Node};
use crate::demo::Demo;
use crate::generated::{Completions, Man};
use crate::new::New;
use crate::observe::Observe;

/// Erlang-style processes as a native runtime, and a lab that measures them
#[derive(Debug, Parser)]
#[command(name = "purlin", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a project with a supervision tree, a server and tests in virtual time
    New(New),
    /// Measure the cost of processes and messages on several runtimes
    Lab(Lab),
    /// Serve or send millions of acknowledged small messages over TCP
    Ack {
        #[command(subcommand)]
        command: Ack,
    },
    /// Join an Erlang cluster as a node
    Node(Node),
    /// Call a function on an Erlang or purlin node and print its value
    Call(Call),
    /// Run a demo system with a live dashboard
    Demo(Demo),
    /// Watch a running node in this terminal
    Observe(Observe),
    /// Print a script that completes the arguments of this command in a shell
    Completions(Completions),
    /// Write a manual page of each subcommand
    Man(Man),
}
