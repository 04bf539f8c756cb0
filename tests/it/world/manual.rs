//! What the documentation says, for tests that hold it to its word.

use std::path::Path;

/// The code blocks of a file in this repository, each with its language.
pub fn blocks(file: &str) -> Vec<(String, String)> {
    let text = read(file);
    let parts = text.split("\n```").skip(1).step_by(2);
    let block =
        |part: &str| part.split_once('\n').map(|(language, code)| (language.to_owned(), code.to_owned()));
    parts.filter_map(block).collect()
}

/// The rows of all tables in it, cell by cell, without code marks; heads and rules left out.
pub fn rows(file: &str) -> Vec<Vec<String>> {
    let text = read(file);
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.starts_with("|--");
    let rows = lines.iter().enumerate().filter(|(at, line)| {
        line.starts_with('|') && !is_rule(line) && !lines.get(at + 1).is_some_and(|next| is_rule(next))
    });
    rows.map(|(_, line)| cells(line)).collect()
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|')
        .split(" | ")
        .map(|cell| cell.trim().trim_matches('`').replace("\\|", "|"))
        .collect()
}

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
