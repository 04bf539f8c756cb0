//! Argument templates: `{{.Path}}` and its kin, each put whole into one argument.
//!
//! No shell, no splitting, no code: a value is never looked at again once it is in its place.

use std::ffi::{OsStr, OsString};

use crate::lane::Situation;

/// The variables that every kind of adapter may use.
pub const VARIABLES: [&str; 14] = [
    "Path", "Main", "Repo", "Name", "Branch", "Base", "Parent", "Agent", "Prompt", "Image", "Session", "Cwd",
    "State", "Chat",
];

/// One argument with places for variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(&'static str),
}

impl Template {
    /// Reads a template. The error names the variable that does not exist.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inside, behind) =
                after.split_once("}}").ok_or_else(|| format!("{text:?}: {{{{ is not closed"))?;
            let known = inside.trim().strip_prefix('.').and_then(variable);
            let name = known.ok_or_else(|| {
                format!("unknown variable {{{{{inside}}}}}; there are {}", VARIABLES.map(dotted).join(" "))
            })?;
            parts.extend([Part::Text(before.to_owned()), Part::Variable(name)]);
            rest = behind;
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Template(parts))
    }

    /// Whether the variable is used.
    pub fn uses(&self, name: &str) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Variable(used) if *used == name))
    }

    /// The argument with its values in place.
    pub fn fill(&self, values: &Values) -> OsString {
        let mut filled = OsString::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.push(text),
                Part::Variable(name) => filled.push(values.get(name)),
            }
        }
        filled
    }
}

fn variable(name: &str) -> Option<&'static str> {
    VARIABLES.into_iter().find(|known| *known == name)
}

fn dotted(name: &str) -> String {
    format!("{{{{.{name}}}}}")
}

/// What the variables stand for; one that has no value is empty.
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<(&'static str, OsString)>);

impl Values {
    /// The values of a lane.
    pub fn of(situation: &Situation) -> Self {
        let mut values = Values::default();
        for (key, value) in situation.facts() {
            if let Some(name) = VARIABLES.into_iter().find(|name| name.eq_ignore_ascii_case(key)) {
                values.set(name, value);
            }
        }
        values
    }

    /// Gives a variable its value.
    pub fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
    }

    /// The same values and one more.
    #[must_use]
    pub fn with(&self, name: &'static str, value: impl Into<OsString>) -> Self {
        let mut values = self.clone();
        values.set(name, value);
        values
    }

    fn get(&self, name: &str) -> &OsStr {
        self.0.iter().find(|(known, _)| *known == name).map_or(OsStr::new(""), |(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn values_stay_inside_one_argument_and_are_not_read_again() {
        let mut values = Values::default();
        values.set("Prompt", "a b {{.Path}} $(x)");
        values.set("Path", OsString::from_vec(b"/\xff".to_vec()));
        let template = Template::parse("--p={{.Prompt}}:{{ .Path }}").unwrap();
        let wanted = OsString::from_vec(b"--p=a b {{.Path}} $(x):/\xff".to_vec());
        assert_eq!(template.fill(&values), wanted);
        assert!(template.uses("Path") && !template.uses("Main"));
    }

    #[test]
    fn a_template_without_variables_is_itself() {
        for text in ["", "-i", "a}}b", "{x}", "{\"a\":{\"b\":1}}"] {
            assert_eq!(Template::parse(text).unwrap().fill(&Values::default()), OsString::from(text));
        }
    }

    #[test]
    fn an_unknown_variable_is_named() {
        for (text, named) in [("{{.Pth}}", "{{.Pth}}"), ("{{Path}}", "{{Path}}"), ("{{.path}}", "{{.path}}")]
        {
            let error = Template::parse(text).unwrap_err();
            assert!(error.contains(named) && error.contains("{{.Path}}"), "{error}");
        }
        assert!(Template::parse("a {{.Path").unwrap_err().contains("not closed"));
    }
}
