//! Adapters: which hosts a forge's program is about, how it is asked, where its answer holds what.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::client::template::{Template, Values};
use crate::ctx::Ctx;

/// The adapters that come with scruff.
const BUILT_IN: [(&str, &str); 1] = [("github", include_str!("builtin/github.toml"))];

/// A file larger than this is no adapter, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A forge's program.
#[derive(Clone, Debug)]
pub(super) struct Adapter {
    hosts: Vec<String>,
    pub(super) list: Vec<Template>,
    pub(super) branch: Vec<Template>,
    pub(super) repo: Option<Vec<Template>>,
    pub(super) create: Option<Vec<Template>>,
    pub(super) keys: Keys,
    pub(super) env: BTreeMap<String, String>,
}

/// Where an answer holds what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    pub(super) number: String,
    pub(super) state: String,
    pub(super) url: String,
    pub(super) head: String,
    pub(super) tip: String,
    pub(super) base: String,
    pub(super) owner: Option<String>,
    pub(super) fork: Option<String>,
    pub(super) checks: Option<String>,
    pub(super) merged: Option<String>,
    pub(super) closed: Option<String>,
    pub(super) archived: Option<String>,
}

/// What there is for a host.
pub(super) enum Found {
    /// An adapter.
    Adapter(Box<Adapter>),
    /// None.
    None,
    /// A file that cannot be used, and why. It may be the one for this host.
    Broken(String),
}

/// All adapters of one call: the user's own first.
#[derive(Debug, Default)]
pub(super) struct Adapters {
    usable: Vec<Adapter>,
    broken: Vec<String>,
}

impl Adapters {
    /// Reads the user's files, and what comes with scruff where no file replaces it.
    pub(super) fn load(ctx: &Ctx) -> Self {
        let mut adapters = Adapters::default();
        let files = files(&ctx.paths.config.join("adapters/forge"));
        for (id, file) in &files {
            match read(file).and_then(|text| parse(id, &text)) {
                Ok(adapter) => adapters.usable.push(adapter),
                Err(why) => adapters.broken.push(format!("{}: {why}", file.display())),
            }
        }
        for (id, text) in BUILT_IN {
            if files.iter().all(|(own, _)| own != id) {
                adapters.usable.extend(parse(id, text));
            }
        }
        adapters
    }

    /// The adapter for a host. A broken file counts for every host that no other one claims.
    pub(super) fn find(&self, host: &str) -> Found {
        let usable = self.usable.iter().find(|adapter| adapter.is_for(host));
        match (usable, self.broken.first()) {
            (Some(adapter), _) => Found::Adapter(Box::new(adapter.clone())),
            (None, Some(why)) => Found::Broken(why.clone()),
            (None, None) => Found::None,
        }
    }
}

impl Adapter {
    fn is_for(&self, host: &str) -> bool {
        self.hosts.iter().any(|pattern| matches(pattern, host))
    }
}

/// Whether a host is meant by a pattern, in which `*` stands for anything but a dot.
fn matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    match pattern.split_once('*') {
        None => pattern == host,
        Some((start, end)) => {
            let rest = host.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
            rest.is_some_and(|rest| !rest.is_empty() && !rest.contains('.'))
        }
    }
}

/// `<id>.toml` and its path, sorted.
fn files(directory: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.strip_suffix(".toml")?.to_owned();
        Some((id, entry.path()))
    });
    let mut list: Vec<(String, PathBuf)> = named.collect();
    list.sort();
    list
}

fn read(file: &Path) -> Result<String, String> {
    let meta = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return Err("it is no plain file of at most 1 MiB".to_owned());
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

/// An adapter as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    hosts: Vec<String>,
    list: Vec<String>,
    branch: Vec<String>,
    repo: Option<Vec<String>>,
    create: Option<Vec<String>>,
    keys: Keys,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn parse(id: &str, text: &str) -> Result<Adapter, String> {
    let written: Written = toml::from_str(text).map_err(|error| error.message().replace('\n', " "))?;
    let named = |why| format!("{id}: {why}");
    let some = |key, words: Option<Vec<String>>| words.map(|words| argv(key, &words)).transpose();
    Ok(Adapter {
        hosts: written.hosts,
        list: argv("list", &written.list).map_err(named)?,
        branch: argv("branch", &written.branch).map_err(named)?,
        repo: some("repo", written.repo).map_err(named)?,
        create: some("create", written.create).map_err(named)?,
        keys: written.keys,
        env: written.env,
    })
}

fn argv(key: &str, words: &[String]) -> Result<Vec<Template>, String> {
    let template = |word: &String| Template::parse(word).map_err(|why| format!("{key}: {why}"));
    let argv: Vec<Template> = words.iter().map(template).collect::<Result<_, _>>()?;
    match argv.first().map(|first| first.fill(&Values::default())) {
        Some(program) if !program.is_empty() => Ok(argv),
        _ => Err(format!("{key}: there is no program in it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_scruff_can_be_read() {
        for (id, text) in BUILT_IN {
            let adapter = parse(id, text).unwrap();
            assert!(adapter.repo.is_some() && adapter.create.is_some());
        }
    }

    #[test]
    fn hosts_are_exact_but_for_a_star_that_stops_at_dots() {
        let github = parse("github", BUILT_IN[0].1).unwrap();
        for host in ["github.com", "ssh.github.com", "github.com-work"] {
            assert!(github.is_for(host), "{host}");
        }
        for host in ["github.com.evil.org", "github.com-evil.org", "notgithub.com", "github.com-", ""] {
            assert!(!github.is_for(host), "{host}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        let good = BUILT_IN[0].1;
        for (text, named) in [
            (good.replace("hosts", "hots"), "hots"),
            (good.replace("{{.Branch}}", "{{.Brunch}}"), "Brunch"),
            (good.replace("list = [", "list = []\nold = ["), "old"),
            (good.replace("\nbranch = [", "\nbranch = [\"\", "), "branch"),
            (good.replace("tip = \"headRefOid\"\n", ""), "tip"),
        ] {
            let why = parse("github", &text).unwrap_err();
            assert!(why.contains(named), "{why}");
        }
    }
}
