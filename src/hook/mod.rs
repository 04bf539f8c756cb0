//! Clients call in.

mod caller;
pub mod create;
pub mod remove;
