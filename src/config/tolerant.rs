//! Reads TOML so that every mistake costs only itself.

use toml::{Table, Value};

use super::Config;

/// How many lines with an error are left out before the file is given up.
const MAX_ERRORS: usize = 50;

/// The configuration of `text`, and a warning for whatever could not be used.
pub(super) fn parse(text: &str) -> (Config, Vec<String>) {
    let mut warnings = Vec::new();
    let table = table(text, &mut warnings);
    let mut unknown = Vec::new();
    if let Ok(config) = build(table.clone(), &mut unknown) {
        warnings.extend(unknown.into_iter().map(|key| format!("unknown key {key}")));
        return (config, warnings);
    }
    let mut good = Table::new();
    for (keys, value) in leaves(&table) {
        let mut attempt = good.clone();
        insert(&mut attempt, &keys, value);
        let mut unknown = Vec::new();
        match build(attempt.clone(), &mut unknown) {
            Ok(_) if unknown.is_empty() => good = attempt,
            Ok(_) => warnings.push(format!("unknown key {}", keys.join("."))),
            Err(error) => warnings.push(format!("{}: {error}", keys.join("."))),
        }
    }
    (build(good, &mut Vec::new()).unwrap_or_default(), warnings)
}

fn build(table: Table, unknown: &mut Vec<String>) -> Result<Config, String> {
    serde_ignored::deserialize(Value::Table(table), |path| unknown.push(path.to_string()))
        .map_err(|error: toml::de::Error| error.message().replace('\n', " "))
}

/// What parses of the text: a line with an error is left out and the rest read again.
fn table(text: &str, warnings: &mut Vec<String>) -> Table {
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..MAX_ERRORS {
        let joined = lines.join("\n");
        let error: toml::de::Error = match toml::from_str(&joined) {
            Ok(table) => return table,
            Err(error) => error,
        };
        let at = error.span().map_or(0, |span| span.start).min(joined.len());
        let index = joined.as_bytes()[..at].split(|byte| *byte == b'\n').count() - 1;
        let message = error.message().replace('\n', " ");
        match lines.get_mut(index) {
            Some(line) if !line.is_empty() => *line = "",
            _ => {
                warnings.push(format!("line {}: {message}; nothing of the file is used", index + 1));
                return Table::new();
            }
        }
        warnings.push(format!("line {}: {message}", index + 1));
    }
    warnings.push("too many errors; nothing of the file is used".to_owned());
    Table::new()
}

/// Every value with its keys, two levels deep: tables of tables are values themselves.
fn leaves(table: &Table) -> Vec<(Vec<String>, Value)> {
    let mut list = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => list
                .extend(inner.iter().map(|(name, value)| (vec![key.clone(), name.clone()], value.clone()))),
            _ => list.push((vec![key.clone()], value.clone())),
        }
    }
    list
}

fn insert(table: &mut Table, keys: &[String], value: Value) {
    match keys {
        [] => {}
        [key] => {
            table.insert(key.clone(), value);
        }
        [key, rest @ ..] => {
            let inner = table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
