// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Rust's side of a C table, made from the C header: nobody writes a struct twice.
//!
//! This reads the few kinds of fields that the tables of this project have, and refuses
//! all others: constant texts, numbers of 16, 32 and 64 bits, arrays of such numbers with their
//! length in digits, pointers to such numbers, and pointers to functions. A field is optional
//! in Rust if it is behind a comment that
//! says `Optional`.

use std::fmt::Write;

/// The C struct `name` of `header`, as Rust of the name `rust`, with each comment as
/// documentation.
///
/// # Errors
/// There is no such struct, or a field of another kind.
pub fn mirror(header: &str, name: &str, rust: &str) -> Result<String, String> {
    let start = format!("\nstruct {name} {{\n");
    let body = header
        .split_once(&start)
        .and_then(|(_, rest)| rest.split_once("\n};"))
        .ok_or_else(|| format!("no struct {name}"))?
        .0;
    let mut text = format!(
        "/// `struct {name}` of C.\n#[repr(C)]\n#[derive(Clone, Copy, Debug)]\n\
         #[allow(dead_code)] // C fills all of it\npub struct {rust} {{\n"
    );
    let mut optional = false;
    for piece in pieces(body) {
        match piece {
            Piece::Comment(comment) => optional |= comment.contains("Optional"),
            Piece::Fields(c, comment) => {
                for (field, kind) in fields(c).map_err(|what| format!("struct {name}: {what}"))? {
                    let doc = comment.unwrap_or("as its name says, in C.");
                    let kind = match optional && kind.starts_with("unsafe extern") {
                        true => format!("Option<{kind}>"),
                        false => kind,
                    };
                    let doc = doc.replace('[', "\\[");
                    write!(text, "    /// `{field}`: {doc}\n    pub {field}: {kind},\n")
                        .map_err(|err| err.to_string())?;
                }
            }
        }
    }
    Ok(text + "}\n")
}

/// Each `#define PREFIX… (1u << N)` of `header`, as a Rust constant.
pub fn flags(header: &str, prefix: &str) -> String {
    let defines = header.lines().filter_map(|line| {
        let (name, value) = line
            .strip_prefix("#define ")?
            .split_once(char::is_whitespace)?;
        let bit = value.trim().strip_prefix("(1u << ")?.split_once(')')?.0;
        let own = name.starts_with(prefix);
        let allow = "#[allow(dead_code)] // not all are asked for";
        let constant = format!("pub const {name}: u32 = 1 << {bit};");
        own.then(|| format!("/// `{name}` of C.\n{allow}\n{constant}\n"))
    });
    defines.collect()
}

/// The C constant `name` of `header`, a `#define` of a number in decimal or hexadecimal, as a
/// Rust constant of the type `kind` and the name `rust`.
///
/// # Errors
/// There is no such constant, or it is no number.
pub fn number(header: &str, name: &str, rust: &str, kind: &str) -> Result<String, String> {
    let mut values = header.lines().filter_map(|line| {
        let (defined, value) = line
            .strip_prefix("#define ")?
            .split_once(char::is_whitespace)?;
        (defined == name).then(|| value.trim())
    });
    let value = values.next().ok_or_else(|| format!("no #define {name}"))?;
    let word = value.split_whitespace().next().unwrap_or_default();
    let digits = word.trim_end_matches(['U', 'L', 'u', 'l']);
    let parsed = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    let parsed = parsed.map_err(|_| format!("{name} is no number: {value}"))?;
    Ok(format!(
        "/// `{name}` of C.\npub const {rust}: {kind} = {parsed};\n"
    ))
}

enum Piece<'a> {
    /// On lines of its own.
    Comment(&'a str),
    /// A declaration, and the comment behind it.
    Fields(&'a str, Option<&'a str>),
}

fn pieces(body: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = body.trim_start();
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("/*") {
            let (comment, next) = behind.split_once("*/").unwrap_or((behind, ""));
            pieces.push(Piece::Comment(comment.trim()));
            rest = next.trim_start();
            continue;
        }
        let (c, next) = rest.split_once(';').unwrap_or((rest, ""));
        let line = next.split_once('\n').map_or(next, |(line, _)| line);
        let comment = line.trim().strip_prefix("/*");
        let comment = comment.and_then(|text| Some(text.split_once("*/")?.0.trim()));
        pieces.push(Piece::Fields(c, comment));
        rest = if comment.is_some() {
            &next[line.len()..]
        } else {
            next
        }
        .trim_start();
    }
    pieces
}

/// The names and Rust types that a declaration makes.
fn fields(c: &str) -> Result<Vec<(String, String)>, String> {
    if let Some((result, rest)) = c.split_once("(*") {
        let (name, arguments) = rest.split_once(")(").ok_or_else(|| c.to_owned())?;
        let arguments = arguments.strip_suffix(')').ok_or_else(|| c.to_owned())?;
        let arguments = arguments
            .split(',')
            .map(|argument| rust_type(type_of(argument)).ok_or_else(|| argument.to_owned()))
            .collect::<Result<Vec<_>, _>>()?
            .join(", ");
        let result = match result.trim() {
            "void" => String::new(),
            result => format!(" -> {}", rust_type(result).ok_or_else(|| c.to_owned())?),
        };
        let kind = format!("unsafe extern \"C\" fn({arguments}){result}");
        return Ok(vec![(name.to_owned(), kind)]);
    }
    let kind = rust_type(type_of(c.split(',').next().unwrap_or(c))).ok_or_else(|| c.to_owned())?;
    let names = c.split(',').map(|one| {
        let name = one.rsplit(|c: char| c.is_whitespace() || c == '*').next();
        let name = name.unwrap_or(one);
        match name.split_once('[') {
            None => Ok((name.to_owned(), kind.to_owned())),
            Some((name, length)) => {
                let length = length.strip_suffix(']').and_then(|n| n.parse::<u32>().ok());
                let length = length.ok_or_else(|| c.to_owned())?;
                Ok((name.to_owned(), format!("[{kind}; {length}]")))
            }
        }
    });
    names.collect()
}

/// The text before the name in `const char *name`.
fn type_of(declared: &str) -> &str {
    let declared = declared.trim();
    let declared = declared.split_once('[').map_or(declared, |(name, _)| name);
    declared.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
}

fn rust_type(c: &str) -> Option<&'static str> {
    // A result has no name behind it, so its type is all.
    match c.trim() {
        "const char *" => Some("*const core::ffi::c_char"),
        "void *" => Some("*mut core::ffi::c_void"),
        "const void *" => Some("*const core::ffi::c_void"),
        "u32 *" => Some("*mut u32"),
        "u16" => Some("u16"),
        "u32" => Some("u32"),
        "u64" => Some("u64"),
        "bool" => Some("bool"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "\nstruct table {\n\tconst char *name; /* what users [type] */\n\tu32 min,\n\t\tmax;\n\n\
        \tvoid (*init)(void *lock);\n\t/*\n\t * Optional ones\n\t * are NULL.\n\t */\n\
        \tbool (*wait)(const void *lock, u64 ns);\n\tu32 *value;\n\tu64 sums[40];\n\tu16 small;\n};\n\
        #define LK_A\t  (1u << 0) /* first */\n#define LK_B (1u << 5)\n#define OTHER (1u << 6)\n";

    #[test]
    fn each_field_has_its_type_and_comment() {
        let rust = mirror(HEADER, "table", "Table").expect("a struct");
        for line in [
            "    /// `name`: what users \\[type]\n    pub name: *const core::ffi::c_char,\n",
            "    pub min: u32,\n",
            "    pub max: u32,\n",
            "    pub init: unsafe extern \"C\" fn(*mut core::ffi::c_void),\n",
            "    pub wait: Option<unsafe extern \"C\" fn(*const core::ffi::c_void, u64) -> bool>,\n",
            "    pub value: *mut u32,\n",
            "    pub sums: [u64; 40],\n",
            "    pub small: u16,\n",
        ] {
            assert!(rust.contains(line), "{line}: {rust}");
        }
        assert_eq!(rust.matches("    pub ").count(), 8, "{rust}");
    }

    #[test]
    fn what_it_cannot_read_is_an_error() {
        assert!(mirror(HEADER, "tables", "Table").is_err());
        let odd = HEADER.replace("u32 *value", "struct other value");
        let error = mirror(&odd, "table", "Table").expect_err("an unknown type");
        assert!(error.contains("struct other"), "{error}");
    }

    #[test]
    fn numbers_are_of_either_kind() {
        let header =
            "#define REC_A\t0x1fULL /* text */\n#define REC_AB 40\n#define REC_B (1 + 2)\n";
        let found = |name| number(header, name, "N", "u64");
        assert!(found("REC_A")
            .expect("hexadecimal")
            .ends_with("pub const N: u64 = 31;\n"));
        assert!(found("REC_AB")
            .expect("decimal")
            .ends_with("pub const N: u64 = 40;\n"));
        for name in ["REC", "REC_B"] {
            found(name).expect_err(name);
        }
    }

    #[test]
    fn flags_keep_their_bits() {
        let rust = flags(HEADER, "LK_");
        assert!(rust.contains("pub const LK_A: u32 = 1 << 0;"), "{rust}");
        assert!(rust.contains("pub const LK_B: u32 = 1 << 5;"), "{rust}");
        assert!(!rust.contains("OTHER"), "{rust}");
    }
}
