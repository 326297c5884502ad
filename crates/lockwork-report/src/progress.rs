// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The line of progress, on standard error. It is hidden if that is no terminal.

pub use indicatif::ProgressBar;
use indicatif::ProgressStyle;

/// A bar for `length` steps, with a message and the time that is left. It is drawn when
/// it changes: no thread of its own disturbs what is measured.
pub fn bar(length: usize) -> ProgressBar {
    styled(
        ProgressBar::new(length as u64),
        "{bar:30} {pos}/{len}  {msg}  ETA {eta}",
    )
}

/// A message and the time since the start, for work of which nobody knows the length.
pub fn spinner() -> ProgressBar {
    styled(
        ProgressBar::new_spinner(),
        "{spinner} {wide_msg} ({elapsed})",
    )
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.expect("the template is right"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_right() {
        assert_eq!(bar(3).length(), Some(3));
        assert_eq!(spinner().length(), None);
    }
}
