//! `owner/name` out of a remote's URL.

use percent_encoding::percent_decode_str;

/// The owner and name that a URL says, without scheme, user, host, port, `.git` and slashes at
/// the end. Groups stay: `https://host/a/b/c.git` is `a/b/c`, which is what a forge asks for.
/// Of a path on disk, the last two components. One component alone is `local/<name>`.
pub(super) fn slug(url: &str) -> Option<String> {
    let url = url.trim();
    let (path, on_disk) = match url.split_once("://") {
        Some(("file", rest)) => (rest, true),
        Some((_, rest)) => (after_host(rest), false),
        None => match scp_path(url) {
            Some(path) => (path, path.starts_with('/')),
            None => (url, true),
        },
    };
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let mut parts: Vec<String> = decoded.split('/').filter(|part| is_name(part)).map(clean).collect();
    let mut last = parts.pop()?;
    if last == ".git" {
        last = parts.pop()?;
    }
    let name = last.strip_suffix(".git").unwrap_or(&last).to_owned();
    if on_disk {
        parts = parts.split_off(parts.len().saturating_sub(1));
    }
    if parts.is_empty() {
        parts.push("local".to_owned());
    }
    parts.push(name);
    Some(parts.join("/"))
}

/// What follows `host/` in `user@host:port/path`; a query or fragment is no part of the path.
fn after_host(rest: &str) -> &str {
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    path.split(['?', '#']).next().unwrap_or_default()
}

/// The path of `user@host:path`: a colon before any slash.
fn scp_path(url: &str) -> Option<&str> {
    let (host, path) = url.split_once(':')?;
    (!host.contains('/')).then_some(path)
}

fn is_name(part: &str) -> bool {
    !matches!(part, "" | "." | ".." | "~")
}

fn clean(part: &str) -> String {
    part.chars().map(|char| if char.is_control() { '-' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_one_repository_is_one_slug() {
        for url in [
            "https://github.com/acme/shop.git",
            "https://github.com/acme/shop",
            "https://github.com/acme/shop/",
            "https://github.com/acme/shop.git/",
            "https://kim:secret@github.com:8443/acme/shop.git",
            "http://github.com//acme//shop.git",
            "git@github.com:acme/shop.git",
            "github.com:acme/shop",
            "gh:acme/shop",
            "ssh://git@github.com/acme/shop.git",
            "ssh://git@github.com:22/acme/shop.git",
            "git://github.com/acme/shop.git",
            "git+ssh://git@github.com/acme/shop.git",
            "/srv/git/acme/shop.git",
            "file:///srv/git/acme/shop.git",
            "kim@host:/srv/git/acme/shop.git",
            "../acme/shop",
            "/home/kim/acme/shop/.git",
            " https://github.com/acme/shop.git\n",
        ] {
            assert_eq!(slug(url).as_deref(), Some("acme/shop"), "{url}");
        }
    }

    #[test]
    fn groups_stay_and_hostile_parts_go() {
        assert_eq!(slug("https://gitlab.com/a/b/c.git").as_deref(), Some("a/b/c"));
        assert_eq!(slug("https://h/../../etc/passwd").as_deref(), Some("etc/passwd"));
        assert_eq!(slug("https://h/a%0Ab/c").as_deref(), Some("a-b/c"));
        assert_eq!(slug("https://h/a/b?x=/y#/z").as_deref(), Some("a/b"));
        assert_eq!(slug("shop.git").as_deref(), Some("local/shop"));
        for url in ["", "https://h", "https://h/", "..", "/", "h:"] {
            assert_eq!(slug(url), None, "{url}");
        }
    }
}
