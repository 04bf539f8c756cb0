//! What a step touches and what it does, as values that can be compared.

use sha2::{Digest, Sha256};

use super::{Patch, Touched};

/// Takes in what a step touches, in any order.
#[derive(Default)]
pub(super) struct Toucher(Vec<(Vec<u8>, u32, u32)>);

impl Toucher {
    pub(super) fn add(&mut self, path: &[u8], before: u32, after: u32) {
        self.0.push((path.to_owned(), before, after));
    }

    pub(super) fn end(mut self) -> Touched {
        if self.0.is_empty() {
            return Touched([0; 32]);
        }
        self.0.sort_unstable();
        let mut hash = Sha256::new();
        for (path, before, after) in &self.0 {
            hash.update(path);
            hash.update([0]);
            hash.update(before.to_be_bytes());
            hash.update(after.to_be_bytes());
        }
        Touched(hash.finalize().into())
    }
}

impl Patch {
    /// The text of a patch as git prints it, without what says where it was taken: the names of
    /// blobs and the numbers of lines. What is in a file has a mark in front, so neither line can
    /// be part of one.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut hash = Sha256::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match line {
                [b'@', b'@', ..] => hash.update(b"@@\n"),
                [b'i', b'n', b'd', b'e', b'x', b' ', rest @ ..] => {
                    let mode =
                        rest.iter().position(|byte| *byte == b' ').map_or(&b"\n"[..], |at| &rest[at..]);
                    hash.update(b"index");
                    hash.update(mode);
                }
                line => hash.update(line),
            }
        }
        Patch(hash.finalize().into())
    }
}
