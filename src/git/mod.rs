//! git: facts about repositories, and the calls that change working trees.
//!
//! Facts come from libgit2 where it can open the repository, else from the `git` program.
//! Whatever touches a working tree, the index, hooks, filters or references is done by `git`.

mod admin;
mod checkout;
mod command;
mod creation;
mod discover;
mod facts;
pub mod history;
pub mod lfs;
mod name;
mod oid;
mod operation;
mod program;
pub mod quirks;
pub mod refs;
mod removal;
mod repo;
mod shadow;
pub mod status;
pub mod submodule;
mod url;
pub mod wip;
pub mod worktree;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use command::{LOCAL, command, read};
pub use oid::Oid;
pub use repo::{CommitLine, DefaultBranch, Repo};
