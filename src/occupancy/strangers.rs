//! Processes whose directory may not be read, and whether they could be in a checkout at all.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whom the kernel would let into a directory: all that is known of a process that hides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stranger {
    uid: Option<u32>,
    groups: Vec<u32>,
}

impl Stranger {
    /// Someone of whom nothing is known, not even whether there is one.
    pub(super) fn unseen() -> Self {
        Stranger { uid: None, groups: Vec::new() }
    }

    /// Who the process with this directory in `/proc` is. `None` for those that are passed over:
    /// root's, the kernel's, this user's own (such as an ssh-agent), and those that have ended.
    pub(super) fn read(process: &Path) -> Option<Self> {
        let status = match std::fs::read(process.join("status")) {
            Ok(status) => status,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Some(Self::unseen()),
            Err(_) => return None,
        };
        let stranger = Self::parse(&String::from_utf8_lossy(&status))?;
        let own = [rustix::process::getuid(), rustix::process::geteuid()].map(rustix::fs::Uid::as_raw);
        (stranger.uid != Some(0) && stranger.uid.is_none_or(|uid| !own.contains(&uid))).then_some(stranger)
    }

    /// `None` also for a zombie, which may have threads that live on.
    fn parse(status: &str) -> Option<Self> {
        let words =
            |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::split_whitespace);
        let numbers = |key: &str| -> Option<Vec<u32>> {
            Some(words(key)?.filter_map(|word| word.parse().ok()).collect())
        };
        let ended =
            words("State:").and_then(|mut words| words.next()).is_some_and(|state| "ZX".contains(state));
        if ended && numbers("Threads:").is_none_or(|count| count.first().is_none_or(|count| *count <= 1)) {
            return None;
        }
        // Real, effective, saved, and the one that counts for files.
        let uid = numbers("Uid:")?.get(3).copied();
        let mut groups = numbers("Groups:").unwrap_or_default();
        groups.extend(numbers("Gid:")?.get(3));
        Some(Stranger { uid, groups })
    }

    /// Whether every directory from the root down to `checkout`, a real path, is open to them.
    pub(super) fn may_enter(&self, checkout: &Path) -> bool {
        checkout.ancestors().all(|directory| self.may_pass(directory))
    }

    fn may_pass(&self, directory: &Path) -> bool {
        let Ok(meta) = std::fs::metadata(directory) else { return true };
        let Some(uid) = self.uid else { return !is_private(&meta) };
        let bit = |shift: u32| meta.mode() >> shift & 1 == 1;
        match () {
            () if meta.uid() == uid => bit(6),
            // With an access list the group's bits are the most that anyone named in it gets.
            () if has_list(directory) => bit(3) || bit(0),
            () if self.groups.contains(&meta.gid()) => bit(3),
            () => bit(0),
        }
    }
}

/// Whether some directory on the way to `checkout` is closed to everyone but this user and root:
/// then it does not matter who else there is.
pub(super) fn is_closed(checkout: &Path) -> bool {
    checkout.ancestors().any(|directory| std::fs::metadata(directory).is_ok_and(|meta| is_private(&meta)))
}

fn is_private(meta: &Metadata) -> bool {
    let mine = [0, rustix::process::geteuid().as_raw()].contains(&meta.uid());
    mine && meta.mode() & 0o011 == 0
}

fn has_list(directory: &Path) -> bool {
    rustix::fs::getxattr(directory, "system.posix_acl_access", &mut [0; 0][..]).is_ok_and(|size| size > 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const STATUS: &str = "Name:\tnode\nState:\tS (sleeping)\nUid:\t4242\t4242\t4242\t4243\n\
        Gid:\t10\t11\t12\t13\nFDSize:\t64\nGroups:\t20 30 \nNStgid:\t7\n";

    fn stranger() -> Stranger {
        Stranger::parse(STATUS).unwrap()
    }

    /// Whether they may enter a directory below one of this mode.
    fn may_enter_below(mode: u32, stranger: &Stranger) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let outer = dir.path().join("outer");
        let lane = outer.join("lane");
        std::fs::create_dir_all(&lane).unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(&outer, PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(is_closed(&lane), mode & 0o011 == 0);
        stranger.may_enter(&lane)
    }

    #[test]
    fn the_user_and_groups_that_count_for_files_are_read() {
        assert_eq!(stranger(), Stranger { uid: Some(4243), groups: vec![20, 30, 13] });
        assert_eq!(Stranger::parse("nothing of this kind"), None);
        let zombie = STATUS.replace("S (sleeping)", "Z (zombie)");
        assert_eq!(Stranger::parse(&zombie), None);
        assert_eq!(Stranger::parse(&format!("{zombie}Threads:\t2\n")), Some(stranger()));
    }

    #[test]
    fn one_closed_directory_keeps_strangers_out() {
        for open in [0o755, 0o711, 0o701] {
            assert!(may_enter_below(open, &stranger()), "{open:o}");
            assert!(may_enter_below(open, &Stranger::unseen()), "{open:o}");
        }
        for closed in [0o700, 0o744, 0o766] {
            assert!(!may_enter_below(closed, &stranger()), "{closed:o}");
            assert!(!may_enter_below(closed, &Stranger::unseen()), "{closed:o}");
        }
    }

    #[test]
    fn a_group_opens_only_to_its_members() {
        let own = rustix::process::getegid().as_raw();
        let member = Stranger { uid: Some(4243), groups: vec![own] };
        let other = Stranger { uid: Some(4243), groups: vec![own + 1] };
        assert!(may_enter_below(0o710, &member));
        assert!(!may_enter_below(0o710, &other));
        assert!(!may_enter_below(0o701, &member), "the group's bits count for members, not the others'");
        assert!(may_enter_below(0o710, &Stranger::unseen()), "anyone may be a member");
    }

    #[test]
    fn root_and_oneself_are_passed_over() {
        assert_eq!(Stranger::read(Path::new("/proc/self")), None);
        assert_eq!(Stranger::read(Path::new("/proc/no-such-process")), None);
    }
}
