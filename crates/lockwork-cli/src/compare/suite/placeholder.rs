// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Placeholders in the commands of a suite: `{threads}`, `{1000/threads}`, `{dir}` and `{tmp}`.
//! Other text in braces is left as it is, unless it looks like a placeholder.

/// The number of threads, alone or behind `N/`.
const THREADS: &str = "threads";
/// The folder of the suite's file.
const DIR: &str = "dir";
/// A folder that each row has for itself.
const TMP: &str = "tmp";

/// What takes the place of the placeholders. One without a value is left as it is.
pub struct Values<'a> {
    /// The number of threads.
    pub threads: Option<u32>,
    /// The folder of the suite's file.
    pub dir: &'a str,
    /// The folder of the row.
    pub tmp: Option<&'a str>,
}

/// `word` with the values of its placeholders. `{{word}}` becomes the text `{word}`.
pub fn fill(word: &str, values: &Values) -> String {
    walk(word, &mut |inner| match inner {
        THREADS => values.threads.map(|threads| threads.to_string()),
        DIR => Some(values.dir.to_owned()),
        TMP => values.tmp.map(str::to_owned),
        _ => {
            let whole = inner.strip_suffix(THREADS)?.strip_suffix('/')?;
            let share = whole.parse::<u64>().ok()? / u64::from(values.threads?);
            Some(share.max(1).to_string())
        }
    })
}

/// Whether `word` differs by the number of threads.
pub fn has_threads(word: &str) -> bool {
    let mut has = false;
    walk(word, &mut |inner| {
        has |= inner == THREADS || inner.ends_with("/threads");
        None
    });
    has
}

/// What is wrong with a placeholder in `word`, if anything is.
pub fn mistake(word: &str) -> Option<String> {
    let mut why = None;
    walk(word, &mut |inner| {
        why = why.take().or_else(|| wrong(inner));
        None
    });
    why
}

fn wrong(inner: &str) -> Option<String> {
    if let THREADS | DIR | TMP = inner {
        return None;
    }
    match inner.split_once('/') {
        Some((whole, THREADS)) => match whole.parse::<u64>() {
            Ok(1..) => None,
            _ => Some(format!(
                "{{{inner}}} does not begin with a number of operations; give a whole number \
                 from 1 on, as in {{1000/threads}}"
            )),
        },
        _ => Some(format!(
            "there is no placeholder {{{inner}}}; use {{threads}}, {{N/threads}}, {{dir}} or \
             {{tmp}}, or write {{{{{inner}}}}} for the text {{{inner}}}"
        )),
    }
}

/// `word` with what `value` gives for each text in braces that looks like a placeholder.
fn walk(word: &str, value: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let (mut done, mut rest) = (String::new(), word);
    while let Some((before, brace)) = rest.find('{').map(|at| rest.split_at(at)) {
        done += before;
        let plain = !before.ends_with('$');
        if let Some(inner) = inside(brace, "{{", "}}") {
            done += &format!("{{{inner}}}");
            rest = &brace[inner.len() + 4..];
        } else if let Some(inner) = inside(brace, "{", "}").filter(|_| plain) {
            done += &value(inner).unwrap_or_else(|| format!("{{{inner}}}"));
            rest = &brace[inner.len() + 2..];
        } else {
            done.push('{');
            rest = &brace[1..];
        }
    }
    done + rest
}

/// What is between `open`, with which `text` begins, and `close`, if it looks like a placeholder:
/// a word of small letters, also behind a slash and letters or digits.
fn inside<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let text = text.strip_prefix(open)?;
    let (inner, _) = text.split_once(close)?;
    let (whole, word) = inner.split_once('/').unwrap_or(("0", inner));
    let is_whole = !whole.is_empty() && whole.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    (is_whole && is_word).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Values = Values {
        threads: Some(4),
        dir: "/suites",
        tmp: Some("/tmp/{threads}"),
    };

    #[test]
    fn values_are_filled_in() {
        for (word, filled) in [
            ("-t{threads}", "-t4"),
            ("{1000/threads}", "250"),
            ("a{9/threads}b{1/threads}", "a2b1"),
            ("{dir}/x", "/suites/x"),
            ("{tmp}/{threads}", "/tmp/{threads}/4"),
            ("{threads", "{threads"),
            ("{\"n\":{threads}}", "{\"n\":4}"),
            ("{{threads}}", "{threads}"),
            ("{{print}} {threads}", "{print} 4"),
            ("${threads}", "${threads}"),
        ] {
            assert_eq!(fill(word, &ROW), filled);
            assert_eq!(mistake(word), None, "{word}");
        }
        let none = Values {
            threads: None,
            dir: "/suites",
            tmp: None,
        };
        assert_eq!(
            fill("{dir}/{threads}{tmp}", &none),
            "/suites/{threads}{tmp}"
        );
    }

    #[test]
    fn other_text_in_braces_is_left_as_it_is() {
        for word in [
            "{}",
            "{/}",
            "{print $1}",
            "{ print }",
            "{\"a\": {\"b\": 1}}",
            "x{1,2}",
            "${name}",
            "{1}",
            "a}b{",
            "\u{e9}{\u{e9}}",
        ] {
            assert_eq!(fill(word, &ROW), word);
            assert_eq!(mistake(word), None, "{word}");
        }
    }

    #[test]
    fn what_looks_like_a_placeholder_is_known_or_refused() {
        for (word, part) in [
            (
                "-t{thread}",
                "there is no placeholder {thread}; use {threads}, ",
            ),
            ("{print}", "or write {{print}} for the text {print}"),
            ("{dir}/{9/thread}", "there is no placeholder {9/thread}"),
            ("{0/threads}", "{0/threads} does not begin with a number"),
            ("{n/threads}", "give a whole number from 1 on"),
        ] {
            let why = mistake(word).expect(word);
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn a_word_may_differ_by_threads() {
        for word in ["{threads}", "x{1/threads}"] {
            assert!(has_threads(word), "{word}");
        }
        for word in ["{dir}", "{{threads}}", "threads"] {
            assert!(!has_threads(word), "{word}");
        }
    }
}
