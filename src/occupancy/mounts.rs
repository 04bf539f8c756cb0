//! Parts of a checkout that are mounted somewhere else, such as `-v lane/src:/app` of a container.
//! Walking up from there ends at the mount, so its top has to be known beforehand.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One line of a `mountinfo`.
struct Mount {
    device: String,
    /// Which part of the file system is mounted.
    root: PathBuf,
    /// Where, as its own namespace sees it.
    point: PathBuf,
}

/// A checkout as its file system sees it, whatever it is mounted on.
struct Inside {
    device: String,
    path: PathBuf,
}

/// The checkouts as their file systems see them.
pub(super) struct Seats(Vec<(usize, PathBuf, Inside)>);

impl Seats {
    /// Finds the mount of each checkout in this process's own `mountinfo`.
    pub(super) fn of<'a>(mountinfo: &[u8], checkouts: impl Iterator<Item = (usize, &'a Path)>) -> Self {
        let mounts = parse(mountinfo);
        let seat = |(index, path): (usize, &Path)| {
            // Of several on one point the last is the one that is seen.
            let over = mounts.iter().filter(|mount| path.starts_with(&mount.point));
            let mount = over.max_by_key(|mount| mount.point.components().count())?;
            let rest = path.strip_prefix(&mount.point).ok()?;
            let inside = Inside { device: mount.device.clone(), path: mount.root.join(rest) };
            Some((index, path.to_owned(), inside))
        };
        Seats(checkouts.filter_map(seat).collect())
    }

    /// The parts of checkouts that a namespace has mounts of, as paths from here.
    pub(super) fn parts(&self, mountinfo: &[u8]) -> Vec<(usize, PathBuf)> {
        let mut parts = Vec::new();
        for mount in parse(mountinfo) {
            for (index, path, inside) in &self.0 {
                let Ok(rest) = mount.root.strip_prefix(&inside.path) else { continue };
                if mount.device == inside.device && !rest.as_os_str().is_empty() {
                    parts.push((*index, path.join(rest)));
                }
            }
        }
        parts
    }
}

/// `36 35 98:0 /root /point options …`; spaces and such are written as `\040`.
fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
    lines.filter_map(mount).collect()
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let device = String::from_utf8_lossy(fields.next()?).into_owned();
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    Some(Mount { device, root, point })
}

fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &[u8] = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
        23 22 0:40 / /home rw - tmpfs x rw\n\
        24 23 8:2 /@data /home/my\\040lanes rw - btrfs /dev/sdb rw\n";

    #[test]
    fn a_part_of_a_checkout_is_found_in_another_namespace() {
        let lane = Path::new("/home/my lanes/x");
        let seats = Seats::of(OURS, [(7, lane)].into_iter());
        let theirs = b"90 1 0:99 / / rw - overlay x rw\n\
            91 90 8:2 /@data/x/src /app rw - btrfs x rw\n\
            92 90 8:2 /@data/xy/src /no rw - btrfs x rw\n\
            93 90 8:1 /@data/x/src /no rw - ext4 x rw\n";
        assert_eq!(seats.parts(theirs), [(7, lane.join("src"))]);
    }

    #[test]
    fn the_whole_checkout_is_no_part() {
        let seats = Seats::of(OURS, [(0, Path::new("/srv/x"))].into_iter());
        assert!(seats.parts(b"91 90 8:1 /srv/x /app rw - ext4 x rw\n").is_empty());
        assert!(seats.parts(b"91 90 8:1 / / rw\nnonsense\n\n91 90\n").is_empty());
    }

    #[test]
    fn names_are_bytes() {
        assert_eq!(
            unescape(b"a\\040b\\134\\011\xff\\9"),
            PathBuf::from(OsString::from_vec(b"a b\\\t\xff\\9".to_vec()))
        );
    }
}
