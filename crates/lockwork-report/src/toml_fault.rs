// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the TOML library says is wrong in a file, in words that say what to do.

/// The sentence for `message` of an error; `page` describes the fields.
#[must_use]
pub fn told(message: &str, page: &str) -> String {
    let message = message.trim().replace('\n', "; ");
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("the field {name} is missing; add it ({page} describes each)");
    }
    if message == "duplicate key" {
        return format!("{message}; keep one of them");
    }
    let (found, expected) = match message.split_once(", expected ") {
        Some((found, expected)) => (found, Some(expected)),
        None => (&*message, None),
    };
    let known = expected.map_or("others", |all| all.strip_prefix("one of ").unwrap_or(all));
    if let Some(name) = found.strip_prefix("unknown field ") {
        return format!("there is no field {name} here; remove it, or use one of these: {known}");
    }
    if let Some(name) = found.strip_prefix("unknown variant ") {
        return format!("{name} is not known here; use one of these: {known}");
    }
    let Some(expected) = expected else {
        return message;
    };
    let value = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| found.strip_prefix(start));
    match value {
        Some(value) => {
            let (name, wanted) = (named(value), wanted(expected, value));
            format!("{name} is not possible here; give {wanted}")
        }
        None => format!("{found}; give {}", wanted(expected, "")),
    }
}

/// The value that the file has, as a user would call it.
fn named(value: &str) -> String {
    match value.split_once(' ') {
        Some(("string", text)) => format!("the string {text}"),
        Some(("integer" | "boolean", text)) => text.replace('`', ""),
        Some(("floating", text)) => text.replace("point ", "").replace('`', ""),
        _ if value == "sequence" => "a list".to_owned(),
        _ if value == "map" => "a table".to_owned(),
        _ => value.to_owned(),
    }
}

/// What the library expected in place of `value`. It names types of Rust.
fn wanted(expected: &str, value: &str) -> String {
    let integer = value.strip_prefix("integer `");
    let wanted = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => match integer {
            Some(number) if !number.starts_with('-') => "a smaller whole number",
            _ => "a whole number from 0 on",
        },
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number, such as 2 or 0.5",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a map" => "a table",
        "a sequence" => match value.split_once(' ') {
            Some((_, one)) => return format!("a list, as [{}]", one.replace('`', "")),
            None => "a list",
        },
        _ if expected.starts_with("struct ") => "a table",
        _ => match expected.strip_prefix("a tuple of size ") {
            Some(size) => return format!("a list of {size} values"),
            None => expected,
        },
    };
    wanted.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_to_do_without_types_of_rust() {
        for (message, sentence) in [
            (
                "invalid value: integer `-1`, expected u32",
                "-1 is not possible here; give a whole number from 0 on",
            ),
            (
                "invalid value: integer `5000000000`, expected u32",
                "5000000000 is not possible here; give a smaller whole number",
            ),
            (
                "invalid type: floating point `2.5`, expected u64",
                "2.5 is not possible here; give a whole number from 0 on",
            ),
            (
                "invalid type: string \"true\", expected a sequence",
                "the string \"true\" is not possible here; give a list, as [\"true\"]",
            ),
            (
                "invalid type: integer `2`, expected a sequence",
                "2 is not possible here; give a list, as [2]",
            ),
            (
                "invalid type: string \"x\", expected f64",
                "the string \"x\" is not possible here; give a number, such as 2 or 0.5",
            ),
            (
                "invalid type: map, expected a string",
                "a table is not possible here; give a text in quotes",
            ),
            (
                "invalid type: sequence, expected struct Duration",
                "a list is not possible here; give a table",
            ),
            (
                "invalid length 2, expected a tuple of size 3",
                "invalid length 2; give a list of 3 values",
            ),
            (
                "unknown field `x`, expected one of `a`, `b`",
                "there is no field `x` here; remove it, or use one of these: `a`, `b`",
            ),
            (
                "unknown variant `x`, expected `a` or `b`",
                "`x` is not known here; use one of these: `a` or `b`",
            ),
            (
                "missing field `x`",
                "the field `x` is missing; add it (PAGE describes each)",
            ),
            ("duplicate key", "duplicate key; keep one of them"),
            ("unclosed\narray", "unclosed; array"),
        ] {
            assert_eq!(told(message, "PAGE"), sentence);
        }
    }
}
