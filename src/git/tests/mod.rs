//! Tests with real repositories.
#![allow(clippy::disallowed_methods, reason = "tests write files as they please")]

mod facts;
