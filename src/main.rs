//! The `scruff` program. All of it is in the library; see [`scruff::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    scruff::run::main(std::env::args_os().collect())
}
