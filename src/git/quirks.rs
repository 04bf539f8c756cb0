//! What libgit2 cannot open, and why; for `doctor`.

use super::Repo;

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
