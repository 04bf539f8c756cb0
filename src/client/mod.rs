//! Clients: the agent programs, as data. How each is started, given a prompt, and gone on with.

mod adapter;
mod launch;
mod prompt;
mod resume;
mod scrub;
mod status;
pub mod template;
mod transcript;

pub use adapter::{Adapter, adapter, ids};
pub use launch::{Launch, command_line, start};
pub use prompt::{PROMPT_FILE, Prompt};
pub use resume::resume;
pub use scrub::scrubbed;
pub use status::{Status, status};
