//! Which pull requests are a branch's own. Names are used again, so a name alone proves nothing.

use jiff::{SignedDuration, Timestamp};

use super::answer::{Pr, State};

/// How far two clocks may differ.
const GRACE: SignedDuration = SignedDuration::from_mins(5);

/// A branch that looks for its pull requests.
#[derive(Clone, Debug)]
pub struct Branch<'a> {
    /// Its name.
    pub name: &'a str,
    /// When it was born: its oldest reflog entry, else its oldest author date.
    pub born: Option<Timestamp>,
    /// The owners of the repository's remotes.
    pub owners: &'a [String],
}

impl Branch<'_> {
    /// Whether a pull request is this branch's. `reaches` says whether the tip holds a commit.
    pub fn owns(&self, pr: &Pr, reaches: impl FnOnce(&str) -> bool) -> bool {
        self.is_named_by(pr) && (pr.state == State::Open || reaches(&pr.tip) || self.lived_when_closed(pr))
    }

    /// The part after the last `:` is the branch; a fork's owner must be one of the remotes'.
    fn is_named_by(&self, pr: &Pr) -> bool {
        let (label, name) = match pr.head.rsplit_once(':') {
            Some((owner, name)) => (Some(owner), name),
            None => (None, pr.head.as_str()),
        };
        let ours = |owner: &str| self.owners.iter().any(|known| known.eq_ignore_ascii_case(owner));
        name == self.name && pr.owner.as_deref().or(label).map_or(!pr.fork, ours)
    }

    fn lived_when_closed(&self, pr: &Pr) -> bool {
        match (self.born, pr.closed.or(pr.merged)) {
            (Some(born), Some(closed)) => closed + GRACE >= born,
            _ => false,
        }
    }
}

/// The one to show of a branch's own: an open one, else the newest.
pub fn current<'a>(own: &[&'a Pr]) -> Option<&'a Pr> {
    let newest = |list: &mut dyn Iterator<Item = &&'a Pr>| list.max_by_key(|pr| pr.number).copied();
    newest(&mut own.iter().filter(|pr| pr.state == State::Open)).or_else(|| newest(&mut own.iter()))
}

/// The pull request that says a branch can never land: the newest of its own, closed unmerged,
/// while none is open or merged.
pub fn dead_end<'a>(own: &[&'a Pr]) -> Option<&'a Pr> {
    let all_closed = own.iter().all(|pr| pr.state == State::Closed);
    current(own).filter(|_| all_closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pr(number: u64, state: State) -> Pr {
        Pr {
            number,
            state,
            url: String::new(),
            head: "fix".into(),
            tip: "c0ffee".into(),
            base: "main".into(),
            owner: Some("acme".into()),
            fork: false,
            checks: None,
            merged: None,
            closed: (state != State::Open).then(|| at(1_000_000)),
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// Whether a branch born at this second, which does not hold the pull request's commit, owns it.
    fn owns(born: Option<i64>, pr: &Pr) -> bool {
        let owners = ["acme".to_owned(), "kim".to_owned()];
        Branch { name: "fix", born: born.map(at), owners: &owners }.owns(pr, |_| false)
    }

    #[test]
    fn a_reused_name_does_not_inherit_what_was_closed_before() {
        let merged = pr(1, State::Merged);
        assert!(owns(Some(900_000), &merged), "born before it was closed");
        assert!(owns(Some(1_000_300), &merged), "clocks may differ by five minutes");
        assert!(!owns(Some(1_000_301), &merged));
        assert!(!owns(None, &merged), "unproven is no");
        assert!(!owns(Some(0), &Pr { closed: None, ..merged.clone() }));
        assert!(owns(Some(0), &Pr { closed: None, merged: Some(at(1)), ..merged }));
    }

    #[test]
    fn what_the_tip_holds_is_its_own_whenever_it_was_closed() {
        let owners = ["acme".to_owned()];
        let branch = Branch { name: "fix", born: None, owners: &owners };
        assert!(branch.owns(&pr(1, State::Closed), |tip| tip == "c0ffee"));
        assert!(!Branch { name: "fax", ..branch }.owns(&pr(1, State::Closed), |_| true));
    }

    #[test]
    fn open_ones_are_exempt_from_dates() {
        assert!(owns(None, &pr(1, State::Open)));
    }

    #[test]
    fn forks_count_where_their_owner_is_a_remotes() {
        let from = |head: &str, owner: Option<&str>, fork: bool| {
            owns(None, &Pr { head: head.into(), owner: owner.map(Into::into), fork, ..pr(1, State::Open) })
        };
        assert!(from("kim:fix", None, true));
        assert!(from("fix", Some("Kim"), true));
        assert!(from("a:b:fix", Some("kim"), true), "after the last colon");
        assert!(!from("eve:fix", None, true));
        assert!(!from("fix", Some("eve"), true));
        assert!(!from("fix", None, true), "a fork that is gone could be anybody's");
        assert!(from("fix", None, false));
        assert!(!from("fix-2", Some("acme"), false));
    }

    #[test]
    fn the_open_one_is_shown_and_ends_nothing() {
        let [old, new] = [pr(1, State::Open), pr(2, State::Closed)];
        assert_eq!(current(&[&new, &old]).unwrap().number, 1);
        assert_eq!(dead_end(&[&new, &old]), None);
        let merged = pr(3, State::Merged);
        assert_eq!(current(&[&merged, &new]).unwrap().number, 3);
        assert_eq!(dead_end(&[&new, &merged]), None);
        let older = pr(1, State::Closed);
        assert_eq!(dead_end(&[&older, &new]).unwrap().number, 2);
        assert_eq!((current(&[]), dead_end(&[])), (None, None));
    }
}
