// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What `--set` says: which knobs are to have which values.

use anyhow::Result;

use crate::{bail_usage, usage};

/// A knob, and the value to set it to.
pub type Setting = (String, String);

/// Reads one `KNOB=VALUE`.
pub fn setting(text: &str) -> Result<Setting> {
    match text.split_once('=') {
        Some((knob, value)) => Ok((knob.trim().to_owned(), value.trim().to_owned())),
        None => bail_usage!("'{text}' sets no knob; write KNOB=VALUE"),
    }
}

/// Reads all `KNOB=VALUE[,KNOB=VALUE…]`. Each must pass `validate`, which is given the knob
/// and the value: an error of it is a mistake in the command line. Of two values for
/// one knob the later one counts.
pub fn settings(
    texts: &[String],
    validate: impl Fn(&str, &str) -> Result<()>,
) -> Result<Vec<Setting>> {
    let mut all = Vec::new();
    for text in texts.iter().flat_map(|text| text.split(',')) {
        let (knob, value) = setting(text)?;
        validate(&knob, &value).map_err(usage::error)?;
        put(&mut all, (knob, value));
    }
    Ok(all)
}

/// Adds a setting, in place of an earlier one of its knob.
pub fn put(all: &mut Vec<Setting>, new: Setting) {
    all.retain(|(knob, _)| *knob != new.0);
    all.push(new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_knob_counts() {
        let texts = ["a=1, b=2", "a = 3"].map(str::to_owned);
        let wanted = [("b", "2"), ("a", "3")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(settings(&texts, |_, _| Ok(())).expect("settings"), wanted);
    }

    #[test]
    fn mistakes_are_not_passed_over() {
        let validate = |knob: &str, value: &str| match value {
            "x" => anyhow::bail!("no x for {knob}"),
            _ => Ok(()),
        };
        for (wrong, words) in [
            ("a", "'a' sets no knob; write KNOB=VALUE"),
            ("a=1,", "'' sets no knob; write KNOB=VALUE"),
            ("", "'' sets no knob; write KNOB=VALUE"),
            ("a=x,a=1", "no x for a"),
        ] {
            let error = settings(&[wrong.to_owned()], validate).expect_err(wrong);
            assert_eq!(error.to_string(), words);
            assert!(usage::is(&error), "{wrong}");
        }
    }
}
