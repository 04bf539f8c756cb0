//! From what was typed to a lane.

use std::path::Path;

use super::Lane;
use crate::error::{Error, Result};

/// How far a word may stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The whole name only: for what takes, changes, or is sent by a machine.
    Exact,
    /// A unique prefix too: for what a person types to go somewhere.
    Prefix,
}

/// A lane with the words its repository answers to.
#[derive(Clone, Debug)]
pub struct Known {
    /// The lane.
    pub lane: Lane,
    /// `owner/name`, or `local/<basename>`.
    pub slug: String,
    /// The repository's common git directory, where it could be found.
    pub common: Option<std::path::PathBuf>,
}

impl Known {
    /// The words that name the repository: slug, `owner-name`, name, basename of the main checkout.
    fn repo_words(&self) -> [String; 4] {
        let name = self.slug.rsplit('/').next().unwrap_or_default().to_owned();
        let base = self.lane.row.main.file_name().unwrap_or_default().to_string_lossy().into_owned();
        [self.slug.clone(), self.slug.replace('/', "-"), name, base]
    }
}

/// Finds the lane that `word` names. `here` is the common git directory of the repository scruff
/// was called in: its own lane wins on an exact name.
pub fn resolve<'a>(lanes: &'a [Known], word: &str, here: Option<&Path>, reach: Match) -> Result<&'a Known> {
    let word = word.strip_suffix('…').unwrap_or(word);
    if word.is_empty() {
        return Err(Error::usage("an empty name names no lane").hint("see `scruff list`"));
    }
    let exact = whole(lanes, word);
    let own: Vec<&Known> = exact
        .iter()
        .copied()
        .filter(|known| known.lane.row.name == word && here.is_some() && known.common.as_deref() == here)
        .collect();
    let tiers = [
        own,
        exact,
        qualified(lanes, word),
        if reach == Match::Prefix { prefixed(lanes, word) } else { Vec::new() },
    ];
    match tiers.into_iter().find(|tier| !tier.is_empty()).as_deref() {
        Some([only]) => Ok(only),
        Some(several) => Err(ambiguous(word, several)),
        None => Err(unknown(lanes, word)),
    }
}

fn whole<'a>(lanes: &'a [Known], word: &str) -> Vec<&'a Known> {
    lanes.iter().filter(|known| known.lane.row.name == word).collect()
}

/// `<repo>/<name>`, with `~<4 hex>` of the id where two lanes share a banner's key.
fn qualified<'a>(lanes: &'a [Known], word: &str) -> Vec<&'a Known> {
    let matches = |known: &&Known| {
        known.repo_words().iter().any(|repo| {
            let rest = word.strip_prefix(repo.as_str()).and_then(|rest| rest.strip_prefix('/'));
            rest.is_some_and(|rest| names(known, rest))
        })
    };
    lanes.iter().filter(matches).collect()
}

fn names(known: &Known, word: &str) -> bool {
    let name = known.lane.row.name.as_str();
    let tagged = || word.strip_prefix(name).and_then(|rest| rest.strip_prefix('~'));
    word == name || tagged().is_some_and(|tag| tag.len() == 4 && known.lane.id().as_str().starts_with(tag))
}

/// A prefix of the name, or of either part of `<repo>/<name>`.
fn prefixed<'a>(lanes: &'a [Known], word: &str) -> Vec<&'a Known> {
    let matches = |known: &&Known| {
        let split = |repo: &String| {
            word.match_indices('/').any(|(at, _)| {
                repo.starts_with(&word[..at]) && known.lane.row.name.starts_with(&word[at + 1..])
            })
        };
        known.lane.row.name.starts_with(word) || known.repo_words().iter().any(split)
    };
    lanes.iter().filter(matches).collect()
}

fn ambiguous(word: &str, several: &[&Known]) -> Error {
    let names: Vec<String> =
        several.iter().map(|known| format!("{}/{}", known.slug, known.lane.row.name)).collect();
    let error = Error::usage(format!("{word:?} names {} lanes: {}", several.len(), names.join(", ")));
    if names.iter().all(|name| *name == names[0]) {
        let mains = several.iter().map(|known| format!("scruff -C {} …", known.lane.row.main.display()));
        return mains.fold(error, |error, main| error.hint(main));
    }
    error.hint("type more of the name, or <repo>/<name>")
}

fn unknown(lanes: &[Known], word: &str) -> Error {
    let error = Error::precondition(format!("no lane is called {word:?}"));
    let close = lanes.iter().map(|known| known.lane.row.name.as_str()).find(|name| name.contains(word));
    match close {
        Some(name) => error.hint(format!("did you mean {name}?")).hint("see `scruff list`"),
        None => error.hint(format!("see `scruff list`, or make it: scruff open {word}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::{LaneId, Record};
    use crate::registry::Row;

    fn lane(repo: &str, name: &str) -> Known {
        let path = std::path::PathBuf::from(format!("/b/{repo}/{name}"));
        let row = Row {
            name: name.to_owned(),
            main: format!("/src/{}", repo.rsplit('/').next().unwrap()).into(),
            branch: format!("worktree-{name}"),
            path: path.clone(),
            parent: std::path::PathBuf::new(),
            client: "claude".to_owned(),
            more: Vec::new(),
        };
        let record = Record::new(LaneId::parse("abcdefghijkm").unwrap(), &path);
        Known {
            lane: Lane { row, record },
            slug: repo.to_owned(),
            common: Some(format!("/git/{repo}").into()),
        }
    }

    fn find(lanes: &[Known], word: &str, reach: Match) -> std::result::Result<String, String> {
        let here = Some(Path::new("/git/acme/shop"));
        match resolve(lanes, word, here, reach) {
            Ok(known) => Ok(format!("{}/{}", known.slug, known.lane.row.name)),
            Err(error) => Err(error.message()),
        }
    }

    #[test]
    fn exact_beats_prefix_and_own_beats_other() {
        let lanes = [lane("acme/shop", "quest"), lane("acme/shop", "quest-two"), lane("b/other", "quest")];
        assert_eq!(find(&lanes, "quest", Match::Prefix).unwrap(), "acme/shop/quest");
        assert_eq!(find(&lanes, "quest-t", Match::Prefix).unwrap(), "acme/shop/quest-two");
        assert!(find(&lanes, "quest-t", Match::Exact).is_err());
        assert!(find(&lanes, "que", Match::Prefix).unwrap_err().contains("names 3 lanes"));
    }

    #[test]
    fn a_repository_answers_to_four_words() {
        let lanes = [lane("acme/shop", "a"), lane("b/other", "a")];
        for word in ["acme/shop/a", "acme-shop/a", "shop/a", "shop/a~abcd", "sh/a"] {
            assert_eq!(find(&lanes, word, Match::Prefix).unwrap(), "acme/shop/a", "{word}");
        }
        assert!(find(&lanes, "shop/a~zzzz", Match::Prefix).is_err());
    }

    #[test]
    fn a_whole_name_beats_repo_and_name() {
        let lanes = [lane("acme/shop", "x"), lane("b/other", "shop/x")];
        assert_eq!(find(&lanes, "shop/x", Match::Exact).unwrap(), "b/other/shop/x");
    }

    #[test]
    fn a_cut_cell_is_a_prefix() {
        let lanes = [lane("acme/shop", "a-long-name")];
        assert_eq!(find(&lanes, "a-long-n…", Match::Prefix).unwrap(), "acme/shop/a-long-name");
    }
}
