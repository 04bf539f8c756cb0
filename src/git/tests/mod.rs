//! Tests with real repositories.
#![allow(clippy::disallowed_methods, reason = "tests write files as they please")]

mod checkouts;
mod creation;
mod facts;
mod refs;
mod status;
mod wip;

/// Arguments of `git init` for a repository that libgit2 opens, and for two that it does not.
const KINDS: [&[&str]; 3] = [&[], &["--ref-format=reftable"], &["--object-format=sha256"]];
