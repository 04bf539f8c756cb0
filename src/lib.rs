//! scruff gives every coding agent its own lane: a git branch, a checkout of it, a terminal pane.
//!
//! Dependencies point downwards only: `main → run → cmd → lane, registry, seam, mux, client →
//! git, proc, config, paths, ui, error, exit`. A verb reads like a recipe; nothing below `cmd`
//! prints, exits or reads the process environment.

pub mod activity;
pub mod cli;
pub mod client;
pub mod clock;
pub mod cmd;
pub mod config;
pub mod ctx;
pub mod editor;
pub mod env;
pub mod error;
pub mod exit;
pub mod forge;
pub mod git;
pub mod hook;
pub mod landed;
pub mod lane;
pub mod lock;
pub mod log;
pub mod mux;
pub mod notify;
pub mod occupancy;
pub mod paths;
pub mod proc;
pub mod registry;
pub mod run;
pub mod sanitise;
pub mod seam;
pub mod session;
pub mod tty;
pub mod ui;
