//! Reading what a forge's program answers.

use jiff::Timestamp;
use serde_json::Value;

use super::adapter::Keys;

/// How far a pull request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum State {
    /// Still open.
    Open,
    /// Merged.
    Merged,
    /// Closed without a merge.
    Closed,
}

/// How its checks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Checks {
    /// All have passed.
    Passing,
    /// One has failed.
    Failing,
    /// None has failed, and not all are done.
    Pending,
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pr {
    /// Its number; a newer one has a larger one.
    pub number: u64,
    /// How far it is.
    pub state: State,
    /// Where to look at it.
    pub url: String,
    /// The branch it is from; with an `owner:` in front where the forge says so.
    pub head: String,
    /// The commit it is, or was when it was merged.
    pub tip: String,
    /// The branch it goes into.
    pub base: String,
    /// Whose repository the branch is in, if that is known.
    pub owner: Option<String>,
    /// Whether it comes from another repository.
    pub fork: bool,
    /// How its checks are; `None` without any.
    pub checks: Option<Checks>,
    /// When it was merged.
    pub merged: Option<Timestamp>,
    /// When it was closed, merged or not.
    pub closed: Option<Timestamp>,
}

/// The pull requests in an answer. Something missing or of another kind is an error: half an
/// answer must not pass for "there are none".
pub(super) fn requests(text: &[u8], keys: &Keys) -> Result<Vec<Pr>, String> {
    match parse(text)? {
        Value::Array(list) => list.iter().map(|value| request(value, keys)).collect(),
        _ => Err("the answer is no list".to_owned()),
    }
}

/// Whether the repository that an answer is about takes no more changes.
pub(super) fn archived(text: &[u8], keys: &Keys) -> Result<bool, String> {
    let key = keys.archived.as_deref().ok_or("the adapter names no key for it")?;
    let value = parse(text)?;
    at(&value, key).and_then(Value::as_bool).ok_or_else(|| missing(key))
}

fn parse(text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(text).map_err(|error| format!("the answer is no JSON: {error}"))
}

fn request(value: &Value, keys: &Keys) -> Result<Pr, String> {
    let text =
        |key: &str| at(value, key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| missing(key));
    let some =
        |key: &Option<String>| key.as_deref().and_then(|key| at(value, key)).filter(|value| !value.is_null());
    let time = |key: &Option<String>| some(key).map(moment).transpose().map(Option::flatten);
    let merged = time(&keys.merged)?;
    let state = match state(&text(&keys.state)?)? {
        State::Closed if merged.is_some() => State::Merged,
        state => state,
    };
    Ok(Pr {
        number: at(value, &keys.number).and_then(Value::as_u64).ok_or_else(|| missing(&keys.number))?,
        state,
        url: text(&keys.url)?,
        head: text(&keys.head)?,
        tip: text(&keys.tip)?,
        base: text(&keys.base)?,
        owner: some(&keys.owner).and_then(Value::as_str).filter(|owner| !owner.is_empty()).map(str::to_owned),
        fork: some(&keys.fork).and_then(Value::as_bool).unwrap_or(false),
        checks: some(&keys.checks).and_then(checks),
        merged,
        closed: time(&keys.closed)?,
    })
}

fn missing(key: &str) -> String {
    format!("the answer has no {key}")
}

/// What is at `a.b.c`.
fn at<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(value, |value, name| value.get(name))
}

fn state(word: &str) -> Result<State, String> {
    match word.to_ascii_lowercase().as_str() {
        "open" | "opened" => Ok(State::Open),
        "merged" => Ok(State::Merged),
        "closed" | "locked" | "declined" => Ok(State::Closed),
        _ => Err(format!("the answer has an unknown state {word:?}")),
    }
}

/// A time; the year 1 is how some programs write "never".
fn moment(value: &Value) -> Result<Option<Timestamp>, String> {
    let text = value.as_str().unwrap_or_default();
    if text.is_empty() || text.starts_with("0001-") {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| format!("the answer has an unreadable time {text:?}"))
}

/// One word, an object with one, or a list of such.
fn checks(value: &Value) -> Option<Checks> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let all: Vec<Checks> = list.iter().map(check).collect();
    [Checks::Failing, Checks::Pending, Checks::Passing].into_iter().find(|kind| all.contains(kind))
}

fn check(value: &Value) -> Checks {
    // A run that is not completed has no conclusion yet; a status has a state only.
    let words = ["conclusion", "state", "status"].iter().filter_map(|key| value.get(key)?.as_str());
    let word = value.as_str().into_iter().chain(words).find(|word| !word.is_empty()).unwrap_or_default();
    match word.to_ascii_uppercase().as_str() {
        "SUCCESS" | "SUCCESSFUL" | "PASSED" | "PASSING" | "NEUTRAL" | "SKIPPED" => Checks::Passing,
        "FAILURE" | "FAILED" | "FAILING" | "ERROR" | "CANCELLED" | "CANCELED" | "TIMED_OUT"
        | "ACTION_REQUIRED" | "STARTUP_FAILURE" => Checks::Failing,
        _ => Checks::Pending,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys() -> Keys {
        let text = include_str!("builtin/github.toml");
        let table: toml::Table = toml::from_str(text).unwrap();
        table["keys"].clone().try_into().unwrap()
    }

    fn github() -> Value {
        json!({
            "number": 189, "state": "MERGED", "url": "https://github.com/acme/shop/pull/189",
            "headRefName": "worktree-fix", "headRefOid": "a".repeat(40), "baseRefName": "main",
            "headRepositoryOwner": {"id": "x", "login": "acme"}, "isCrossRepository": false,
            "statusCheckRollup": [], "mergedAt": "2026-11-30T08:00:00Z", "closedAt": "2026-11-30T08:00:01Z"
        })
    }

    #[test]
    fn what_gh_answers_is_read() {
        let prs = requests(json!([github()]).to_string().as_bytes(), &keys()).unwrap();
        let [pr] = prs.as_slice() else { panic!("{prs:?}") };
        assert_eq!(
            (pr.number, pr.state, pr.owner.as_deref(), pr.fork),
            (189, State::Merged, Some("acme"), false)
        );
        assert_eq!((pr.head.as_str(), pr.base.as_str(), pr.checks), ("worktree-fix", "main", None));
        assert_eq!(pr.closed.unwrap().as_second() - pr.merged.unwrap().as_second(), 1);
        assert_eq!(requests(b"[]\n", &keys()), Ok(vec![]));
    }

    #[test]
    fn an_answer_that_is_none_is_an_error() {
        for text in ["", "[", "{}", "null", "[{}]", "[1]", "<html>", "[] []", "\0"] {
            assert!(requests(text.as_bytes(), &keys()).is_err(), "{text}");
        }
        for (key, value) in [
            ("number", json!(-1)),
            ("number", json!("7")),
            ("state", json!("HALF_OPEN")),
            ("headRefOid", Value::Null),
            ("baseRefName", json!({})),
            ("mergedAt", json!("yesterday")),
        ] {
            let mut pr = github();
            pr[key] = value;
            assert!(requests(json!([github(), pr]).to_string().as_bytes(), &keys()).is_err(), "{key}");
        }
    }

    #[test]
    fn what_a_fork_left_behind_may_be_missing() {
        let mut pr = github();
        pr["headRepositoryOwner"] = Value::Null;
        pr["isCrossRepository"] = json!(true);
        pr["mergedAt"] = Value::Null;
        pr["closedAt"] = json!("0001-01-01T00:00:00Z");
        pr["state"] = json!("CLOSED");
        let prs = requests(json!([pr]).to_string().as_bytes(), &keys()).unwrap();
        let pr = &prs[0];
        assert_eq!((pr.owner.clone(), pr.fork, pr.merged, pr.closed), (None, true, None, None));
        assert_eq!(pr.state, State::Closed);
    }

    #[test]
    fn the_worst_check_counts() {
        let run = |status: &str, conclusion: &str| json!({"status": status, "conclusion": conclusion});
        let good = run("COMPLETED", "SUCCESS");
        let skipped = run("COMPLETED", "SKIPPED");
        let running = run("IN_PROGRESS", "");
        let bad = run("COMPLETED", "TIMED_OUT");
        let status = |state: &str| json!({"state": state});
        for (rollup, expected) in [
            (json!([]), None),
            (json!([good, skipped]), Some(Checks::Passing)),
            (json!([good, running]), Some(Checks::Pending)),
            (json!([running, bad, good]), Some(Checks::Failing)),
            (json!([good, status("PENDING")]), Some(Checks::Pending)),
            (json!([status("ERROR"), good]), Some(Checks::Failing)),
            (json!("success"), Some(Checks::Passing)),
            (json!({"status": "failed"}), Some(Checks::Failing)),
            (json!([{}]), Some(Checks::Pending)),
        ] {
            assert_eq!(checks(&rollup), expected, "{rollup}");
        }
    }

    #[test]
    fn whether_a_repository_is_archived_is_said_or_not_known() {
        assert_eq!(archived(br#"{"isArchived":true}"#, &keys()), Ok(true));
        assert_eq!(archived(br#"{"isArchived":false}"#, &keys()), Ok(false));
        assert!(archived(br#"{"isArchived":null}"#, &keys()).is_err());
        assert!(archived(b"{}", &keys()).is_err());
    }
}
