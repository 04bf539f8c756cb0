//! Which repository of which forge.

use std::path::PathBuf;

use crate::git::Repo;

/// A repository as its forge knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The host of the remote that names it; `None` for one on disk, or without a remote.
    pub host: Option<String>,
    /// `owner/name`.
    pub repo: String,
    /// The owners of all remotes: a pull request from one of these may be ours.
    pub owners: Vec<String>,
    /// The main checkout.
    pub main: PathBuf,
}

impl Place {
    /// Where the remote that gives a repository its name is.
    pub fn of(repo: &Repo) -> Self {
        let remotes = repo.remotes();
        let slug = repo.slug();
        let owner = |slug: &str| slug.rsplit_once('/').map(|(owner, _)| owner.to_owned());
        let mut owners: Vec<String> = remotes.iter().filter_map(|(_, url)| owner_in(url)).collect();
        owners.extend(owner(&slug));
        owners.dedup();
        let host = remotes.first().and_then(|(_, url)| host(url));
        Place { host, repo: slug, owners, main: repo.main().to_owned() }
    }
}

/// The host of `scheme://user@host:port/path` or `user@host:path`, in small letters.
fn host(url: &str) -> Option<String> {
    let url = url.trim();
    let authority = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split('/').next()?,
        None => url.split_once(':').map(|(host, _)| host).filter(|host| !host.contains('/'))?,
    };
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The last but one component of a URL's path.
fn owner_in(url: &str) -> Option<String> {
    let path = url.trim().trim_end_matches('/').trim_end_matches(".git").trim_end_matches('/');
    let mut parts = path.rsplit(['/', ':']).filter(|part| !part.is_empty());
    parts.nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_in_every_spelling() {
        for url in [
            "https://github.com/acme/shop.git",
            "https://kim:secret@GitHub.com:8443/acme/shop",
            "git@github.com:acme/shop.git",
            "ssh://git@github.com:22/acme/shop.git",
            "github.com:acme/shop",
        ] {
            assert_eq!(host(url).as_deref(), Some("github.com"), "{url}");
            assert_eq!(owner_in(url).as_deref(), Some("acme"), "{url}");
        }
    }

    #[test]
    fn a_path_has_no_host() {
        for url in ["/srv/acme/shop.git", "../acme/shop", "file:///srv/acme/shop", "./a:b/c", ""] {
            assert_eq!(host(url), None, "{url}");
        }
    }
}
