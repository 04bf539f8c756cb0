//! Text of foreign origin, made harmless for whoever reads it: a branch name can hold an escape
//! sequence, a mark that turns the reading direction, or a page of text.

/// The longest name that is shown, in code points.
const MAX_NAME: usize = 64;

/// A name on one line: no control characters, nothing invisible, cut to 64 code points.
pub fn name(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control() && !is_format(*c)).collect();
    match shown.char_indices().nth(MAX_NAME) {
        Some(_) => shown.chars().take(MAX_NAME - 1).chain(['…']).collect(),
        None => shown,
    }
}

/// Whether a character is invisible and changes how others are shown: Unicode's format characters,
/// its line separators, and tags.
pub fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
        | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_shows_what_it_is() {
        assert_eq!(name("fix/é-日本 👩"), "fix/é-日本 👩");
        assert_eq!(name("a\u{1b}[31m\n\tb\u{202e}c\u{200b}\u{7f}\u{85}"), "a[31mbc");
        assert_eq!(name(""), "");
    }

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(name(&"é".repeat(64)).chars().count(), 64);
        let long = name(&"é".repeat(300));
        assert_eq!(long.chars().count(), 64);
        assert!(long.ends_with('…'));
    }
}
