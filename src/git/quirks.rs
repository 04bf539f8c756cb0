//! What libgit2 cannot open, and why; for `doctor`.

use super::Repo;

/// What libgit2 opens and does not answer exactly; for `doctor`. Whatever looks at the contents of
/// commits asks git there, which [`Repo::library`] sees to.
pub fn inexact(repo: &Repo) -> Vec<String> {
    let partial = partial_clone_of(repo)
        .map(|remote| format!("it is a partial clone of {remote}: libgit2 does not fetch what is missing"));
    let replaced = repo.refs_below("refs/replace/").is_ok_and(|refs| !refs.is_empty());
    let replaced = replaced.then(|| "`git replace` was used: libgit2 does not see it".to_owned());
    partial.into_iter().chain(replaced).collect()
}

/// The remote that has what a partial clone left out.
pub(super) fn partial_clone_of(repo: &Repo) -> Option<String> {
    let config = git2::Config::open(&repo.common().join("config")).ok()?;
    let mut found = None;
    let entries = config.entries(Some(r"^remote\..*\.promisor$")).ok()?;
    let _ = entries.for_each(|entry| {
        let name = String::from_utf8_lossy(entry.name_bytes()).into_owned();
        found =
            name.strip_prefix("remote.").and_then(|name| name.strip_suffix(".promisor")).map(str::to_owned);
    });
    found
}

/// Why libgit2 does not answer for this repository. `None`: it does.
pub fn why_not_libgit2(repo: &Repo) -> Option<String> {
    let complaint = repo.lib().err()?;
    let config = git2::Config::open(&repo.common().join("config")).and_then(|mut config| config.snapshot());
    let value =
        |key: &str| config.as_ref().ok().and_then(|config| config.get_str(key).ok().map(str::to_owned));
    let known = [
        ("extensions.refstorage", "its references are kept as a {} table"),
        ("extensions.objectformat", "its objects are named by {}"),
        ("extensions.compatobjectformat", "its objects are also named by {}"),
        ("extensions.partialclone", "it is a partial clone of {}"),
    ];
    let found = known.iter().find_map(|(key, text)| Some(text.replace("{}", &value(key)?)));
    Some(found.unwrap_or_else(|| complaint.to_owned()))
}
