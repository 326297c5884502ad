// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One edit of one kernel file: where, by patterns; and what is written there. An edit
//! has no line of the kernel in it.

use anyhow::{bail, Context, Result};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// One `[[edit]]` of a patch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The file, below the kernel's top.
    pub(crate) file: String,
    /// The place is searched for after the one line that this pattern fits.
    within: Option<String>,
    /// The text goes after the line that this fits. Without `within` there must be one
    /// such line only; else it is the first.
    after: Option<String>,
    /// The text goes before such a line.
    before: Option<String>,
    /// The text takes the place of each match; `$0` is what was there, `$1` its first
    /// group.
    replace: Option<String>,
    /// How many matches there are to be replaced; 0: one or more.
    #[serde(default = "one")]
    count: usize,
    text: Option<String>,
    /// Text for the end of the file, which need not be there.
    append: Option<String>,
}

fn one() -> usize {
    1
}

impl Edit {
    /// The file with the edit in it. `old`: `None` if there is no such file.
    pub(crate) fn apply(&self, old: Option<&str>) -> Result<String> {
        if let Some(text) = &self.append {
            return Ok(old.unwrap_or_default().to_owned() + text);
        }
        let old = old.with_context(|| format!("the kernel has no {}", self.file))?;
        let text = self.text.as_deref().context("an edit has no text")?;
        match (&self.after, &self.before, &self.replace) {
            (Some(pattern), None, None) => {
                let line = self.line(old, pattern)?;
                let end = old[line.end..]
                    .find('\n')
                    .map_or(old.len(), |n| line.end + n + 1);
                Ok(format!("{}{text}{}", &old[..end], &old[end..]))
            }
            (None, Some(pattern), None) => {
                let line = self.line(old, pattern)?;
                let start = old[..line.start].rfind('\n').map_or(0, |n| n + 1);
                Ok(format!("{}{text}{}", &old[..start], &old[start..]))
            }
            (None, None, Some(pattern)) => self.replaced(old, pattern, text),
            _ => bail!("an edit of {} is not of one kind", self.file),
        }
    }

    fn replaced(&self, old: &str, pattern: &str, text: &str) -> Result<String> {
        let start = self.start(old)?;
        let regex = regex(pattern)?;
        let found = regex.find_iter(&old[start..]).count();
        if found == 0 || (self.count > 0 && found != self.count && self.within.is_none()) {
            bail!(
                "{} has {found} places like '{pattern}' where {} were expected",
                self.file,
                self.count
            );
        }
        let text = text.strip_suffix('\n').unwrap_or(text);
        let new = regex.replacen(&old[start..], self.count, text);
        Ok(format!("{}{new}", &old[..start]))
    }

    /// Where the search begins.
    fn start(&self, old: &str) -> Result<usize> {
        match &self.within {
            None => Ok(0),
            Some(pattern) => Ok(self.only(old, pattern)?.end),
        }
    }

    /// The place that `pattern` names.
    fn line(&self, old: &str, pattern: &str) -> Result<std::ops::Range<usize>> {
        if self.within.is_none() {
            return self.only(old, pattern);
        }
        let start = self.start(old)?;
        let found = regex(pattern)?
            .find_at(old, start)
            .map(|found| found.range());
        found.with_context(|| self.missing(pattern, 0))
    }

    /// The one match.
    fn only(&self, old: &str, pattern: &str) -> Result<std::ops::Range<usize>> {
        let regex = regex(pattern)?;
        let mut all = regex.find_iter(old);
        match (all.next(), all.count()) {
            (Some(found), 0) => Ok(found.range()),
            (None, _) => bail!(self.missing(pattern, 0)),
            (Some(_), more) => bail!(self.missing(pattern, more + 1)),
        }
    }

    fn missing(&self, pattern: &str, count: usize) -> String {
        format!(
            "{} has {count} places like '{pattern}' where one was expected",
            self.file
        )
    }
}

fn regex(pattern: &str) -> Result<Regex> {
    let regex = RegexBuilder::new(pattern).multi_line(true).build();
    regex.with_context(|| format!("'{pattern}' is not a pattern"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "first\nbool f(void)\n{\n}\n#endif\nlast one\n#endif\n";

    fn edit(text: &str) -> Edit {
        toml::from_str(&format!("file = 'a.h'\n{text}")).expect("an edit")
    }

    fn applied(text: &str) -> String {
        edit(text).apply(Some(FILE)).expect("fits")
    }

    #[test]
    fn text_goes_where_the_pattern_says() {
        assert!(applied("after = '^first'\ntext = \"x\\n\"").starts_with("first\nx\nbool"));
        let at_first = applied("within = 'f\\(void'\nbefore = '^#endif'\ntext = \"x\\n\"");
        assert!(at_first.contains("}\nx\n#endif\nlast"), "{at_first}");
        let twice = applied("replace = '^#end(if)$'\ncount = 2\ntext = \"<$0 $1>\\n\"");
        assert_eq!(twice.matches("<#endif if>\n").count(), 2, "{twice}");
        let all = edit("append = 'x'");
        assert_eq!(all.apply(None).expect("fits"), "x");
    }

    #[test]
    fn a_changed_kernel_is_told() {
        for (text, words) in [
            ("after = '^#endif'\ntext = 'x'", "2 places"),
            ("after = 'gone'\ntext = 'x'", "0 places"),
            ("replace = '^#endif'\ntext = 'x'", "2 places"),
            ("within = 'last'\nafter = 'first'\ntext = 'x'", "0 places"),
            ("after = '('\ntext = 'x'", "not a pattern"),
        ] {
            let error = edit(text).apply(Some(FILE)).expect_err("refused");
            assert!(error.to_string().contains(words), "{error}");
        }
        let error = edit("after = 'x'\ntext = 'y'").apply(None);
        assert!(error.expect_err("refused").to_string().contains("no a.h"));
    }
}
