// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where in the source an access stands: `struct lwc_site` of the check world.
use std::ffi::{c_char, CStr};

/// The mirror of `struct lwc_site`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Site {
    file: *const c_char,
    func: *const c_char,
    name: *const c_char,
    expr: *const c_char,
    /// The line, as the compiler counts it for a macro.
    pub line: u32,
}

// SAFETY: constant data.
unsafe impl Sync for Site {}

fn text(pointer: *const c_char) -> &'static str {
    // SAFETY: C fills these with string literals.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("?")
}

impl Site {
    /// The site of a test's access.
    #[cfg(test)]
    pub const fn of_test(name: &'static CStr, line: u32) -> Self {
        Site {
            file: c"litmus".as_ptr(),
            func: c"thread".as_ptr(),
            name: name.as_ptr(),
            expr: c"word".as_ptr(),
            line,
        }
    }

    /// The file's name, without directories.
    pub fn file(&self) -> &'static str {
        text(self.file)
    }

    /// The C function.
    pub fn function(&self) -> &'static str {
        text(self.func)
    }

    /// The primitive's name.
    pub fn primitive(&self) -> &'static str {
        text(self.name)
    }

    /// Its operand as written: an address, or, for `READ_ONCE` and its like,
    /// the object.
    pub fn operand(&self) -> String {
        let expr = text(self.expr);
        let object = matches!(
            self.primitive(),
            "READ_ONCE" | "WRITE_ONCE" | "READ_ONCE_DEP"
        );
        match expr.strip_prefix('&') {
            Some(inner) if object => inner
                .strip_prefix('(')
                .and_then(|inner| inner.strip_suffix(')'))
                .unwrap_or(inner)
                .to_owned(),
            _ => expr.to_owned(),
        }
    }
}
