// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where a lock calls a primitive.
use super::order::Order;
use serde::Serialize;

/// A call of a primitive in a lock's function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// The file's name, without directories.
    pub file: String,
    /// The line of the primitive's name.
    pub first_line: u32,
    /// The line of the closing parenthesis.
    pub last_line: u32,
    /// The C function.
    pub function: String,
    /// The primitive's name.
    pub primitive: String,
    /// What it works on, as written, white space collapsed: its first argument,
    /// or the `atomic_t` behind the amount, as in `atomic_add(1, &lock->cnts)`.
    /// Empty for a primitive without arguments.
    pub operand: String,
    /// What it orders.
    pub order: Order,
    /// The tag that it is under. An access that orders nothing has none.
    pub tag: Option<String>,
}
