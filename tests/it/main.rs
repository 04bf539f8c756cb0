//! Everything that is tested through the real binary, against real git and real tmux.
//!
//! One test binary: the areas are modules, and `world` is the ground they stand on.
#![allow(clippy::disallowed_methods, reason = "tests start programs and write files as they please")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "in a test that is the report")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]
#![allow(clippy::pedantic, missing_docs, unreachable_pub, reason = "no one links a test")]

mod cli;
mod client;
mod conversations;
mod crash;
mod edges;
mod forge;
mod full_disk;
mod hook_create;
mod hook_payload;
mod hook_remove;
mod hooked;
mod landed;
mod lifecycle;
mod needs;
mod new;
mod notify;
mod occupancy;
mod pick;
mod provision;
mod registry;
mod schema;
mod seam;
mod shell;
mod shipping;
mod stage;
mod status;
mod tmux_focus;
mod tmux_open;
mod tmux_plugin;
mod tmux_shim;
mod world;
mod world_selftest;
