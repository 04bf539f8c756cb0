//! Taking a JSON object apart without building it: clients send a megabyte of which a hook needs
//! five words. What is broken or cut off costs only itself.

/// Finds the end of the first JSON value in bytes that come piece by piece.
#[derive(Debug, Default)]
pub(super) struct Framer {
    depth: usize,
    text: Text,
    begun: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    Escaped,
}

impl Framer {
    /// Looks at the next piece; where in it the value ends, once it does. What is neither object
    /// nor array ends at once: no client sends it.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Option<usize> {
        piece.iter().position(|byte| self.ends_with(*byte)).map(|at| at + 1)
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        match (&self.text, byte) {
            (Text::Escaped, _) => self.text = Text::Inside,
            (Text::Inside, b'\\') => self.text = Text::Escaped,
            (Text::Inside, b'"') => self.text = Text::Outside,
            (Text::Outside, b'"') if self.depth > 0 => self.text = Text::Inside,
            (Text::Outside, b'{' | b'[') => {
                self.depth += 1;
                self.begun = true;
            }
            (Text::Outside, b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            (Text::Outside, byte) if !self.begun => return !is_blank(byte),
            (Text::Inside | Text::Outside, _) => {}
        }
        false
    }
}

/// The members of an object, names without their quotes and values as they stand there. It ends
/// where the object does, or where it stops making sense.
pub(super) fn members(object: &[u8]) -> Members<'_> {
    let rest = skip_blanks(object.strip_prefix(BYTE_ORDER_MARK).unwrap_or(object));
    Members { rest: rest.strip_prefix(b"{").unwrap_or_default() }
}

/// The items of an array, as they stand there.
pub(super) fn items(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = skip_blanks(array).strip_prefix(b"[").unwrap_or_default();
    std::iter::from_fn(move || {
        let (item, after) = value(skip_comma(rest))?;
        rest = after;
        Some(item)
    })
}

/// The bytes of a string, escapes undone; `None` for anything else. Bytes that are not UTF-8 stay.
pub(super) fn string(value: &[u8]) -> Option<Vec<u8>> {
    if value.first() != Some(&b'"') {
        return None;
    }
    serde_json::from_slice(value).map(|Bytes(bytes)| bytes).ok()
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// See [`members`].
#[derive(Debug)]
pub(super) struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, rest) = value(skip_comma(self.rest))?;
        let name = name.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let (value, rest) = value(skip_blanks(skip_blanks(rest).strip_prefix(b":")?))?;
        self.rest = rest;
        Some((name, value))
    }
}

/// Splits off the first value; `None` where there is none, or its end is missing.
fn value(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = match bytes.first()? {
        b'{' | b'[' => Framer::default().feed(bytes)?,
        // As the only item of an array, a string ends where the array would.
        b'"' => end_of_string(bytes)?,
        b'}' | b']' | b',' | b':' => return None,
        _ => bytes.iter().position(|byte| is_blank(*byte) || b",]}".contains(byte))?,
    };
    Some(bytes.split_at(end))
}

fn end_of_string(bytes: &[u8]) -> Option<usize> {
    let mut escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map(|at| at + 2)
}

fn skip_comma(bytes: &[u8]) -> &[u8] {
    let bytes = skip_blanks(bytes);
    skip_blanks(bytes.strip_prefix(b",").unwrap_or(bytes))
}

fn skip_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|byte| is_blank(**byte)).count();
    &bytes[blanks..]
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// A string as bytes: half a surrogate pair, which a client leaves where it cut a text, is no
/// reason to lose the whole.
struct Bytes(Vec<u8>);

impl<'de> serde::Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_owned()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(object: &[u8]) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        members(object).map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn a_value_ends_where_it_ends_in_whatever_pieces_it_comes() {
        let text = br#"  {"a":"}\"{","b":[1,{"c":"\\"}]} {"next":1}"#;
        let end = text.iter().rposition(|byte| *byte == b'{').unwrap() - 1;
        for size in 1..text.len() {
            let mut framer = Framer::default();
            let mut seen = 0;
            let found = text.chunks(size).find_map(|piece| {
                let end = framer.feed(piece).map(|at| seen + at);
                seen += piece.len();
                end
            });
            assert_eq!(found, Some(end), "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_no_object_ends_at_once_and_has_no_members() {
        for text in ["12", "\"text\"", "null", "nonsense {"] {
            assert_eq!(Framer::default().feed(text.as_bytes()), Some(1), "{text}");
            assert!(all(text.as_bytes()).is_empty(), "{text}");
        }
        assert_eq!(Framer::default().feed(b" \n"), None);
        assert!(all(b"[1,2]").is_empty());
    }

    #[test]
    fn members_stand_there_as_they_are() {
        let text = br#"{ "a" : 1e400 , "b":[1,[2]],"c":{"d":"}"} ,"e":"x\"y","f":null}"#;
        let expected =
            [("a", "1e400"), ("b", "[1,[2]]"), ("c", r#"{"d":"}"}"#), ("e", r#""x\"y""#), ("f", "null")];
        assert_eq!(all(text), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let listed: Vec<&[u8]> = items(br#" [ 1, {"a":[]} ,"]" ] "#).collect();
        assert_eq!(listed, [&b"1"[..], br#"{"a":[]}"#, br#""]""#]);
    }

    #[test]
    fn what_is_cut_off_costs_only_itself() {
        let text = br#"{"a":"x","b":{"c":1},"d":"cut of"#;
        for cut in 21..text.len() {
            assert_eq!(all(&text[..cut]).len(), 2, "cut at {cut}");
        }
    }

    #[test]
    fn strings_may_be_broken_and_other_types_are_none() {
        assert_eq!(string(br#""a\n\u00e9""#).unwrap(), "a\né".as_bytes());
        assert_eq!(string(b"\"a\xff\"").unwrap(), b"a\xff");
        assert!(string(br#""cut \ud83d""#).is_some());
        for other in [&b"1"[..], b"null", b"{}", b"[\"x\"]", b"true", b"\"open"] {
            assert_eq!(string(other), None, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_taken_apart_without_end_or_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(members(&bytes).count() <= bytes.len());
            prop_assert!(items(&bytes).count() <= bytes.len());
            let _ = (Framer::default().feed(&bytes), string(&bytes));
        }

        #[test]
        fn what_serde_writes_is_read_back(value in object()) {
            let text = serde_json::to_vec(&value).unwrap();
            prop_assert_eq!(Framer::default().feed(&text), Some(text.len()));
            let serde_json::Value::Object(map) = &value else { panic!() };
            let raw: Vec<serde_json::Value> =
                members(&text).map(|(_, raw)| serde_json::from_slice(raw).unwrap()).collect();
            prop_assert_eq!(raw, map.values().cloned().collect::<Vec<_>>());
        }
    }

    fn object() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            any::<String>().prop_map(serde_json::Value::from),
        ];
        let value = leaf.prop_recursive(4, 32, 6, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from);
            let map = prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect()));
            prop_oneof![list, map]
        });
        prop::collection::btree_map(any::<String>(), value, 0..8)
            .prop_map(|map| serde_json::Value::Object(map.into_iter().collect()))
    }
}
