// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Within a crate no file imports, directly or through others, a file that imports it:
//! `docs/architecture.md` has the rule. A name that a file re-exports is an import of the
//! file that defines it. Tests are left out, and so is what macros are given.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// A module or a name in it, from the crate's root.
type Name = Vec<String>;

/// What a file says of names.
#[derive(Default)]
struct File {
    here: Name,
    children: BTreeSet<String>,
    defines: BTreeSet<String>,
    /// What is imported, and as what; `*`: all of it.
    uses: Vec<(Name, String)>,
    paths: Vec<Name>,
}

type Files = BTreeMap<Name, File>;

impl File {
    fn read(here: Name, text: &str) -> File {
        let tree = syn::parse_file(text).unwrap_or_else(|error| panic!("{here:?}: {error}"));
        let mut file = File {
            here,
            ..File::default()
        };
        for item in &tree.items {
            match item {
                Item::Mod(item) => drop(file.children.insert(item.ident.to_string())),
                Item::Fn(item) => drop(file.defines.insert(item.sig.ident.to_string())),
                Item::Struct(item) => drop(file.defines.insert(item.ident.to_string())),
                Item::Enum(item) => drop(file.defines.insert(item.ident.to_string())),
                Item::Type(item) => drop(file.defines.insert(item.ident.to_string())),
                Item::Const(item) => drop(file.defines.insert(item.ident.to_string())),
                Item::Trait(item) => drop(file.defines.insert(item.ident.to_string())),
                _ => {}
            }
        }
        file.visit_file(&tree);
        file
    }

    /// From the crate's root; none: it is of another crate, or is no path to a file.
    fn absolute(&self, path: &[String]) -> Option<Name> {
        let (first, mut rest) = path.split_first()?;
        let mut from = match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => self.here.clone(),
            "super" => self.here[..self.here.len().checked_sub(1)?].to_vec(),
            child if self.children.contains(child) => [&self.here[..], &path[..1]].concat(),
            _ => return None,
        };
        while let Some(("super", more)) = rest.split_first().map(|(s, more)| (s.as_str(), more)) {
            from.pop()?;
            rest = more;
        }
        from.extend_from_slice(rest);
        Some(from)
    }

    fn add_uses(&mut self, before: &[String], tree: &UseTree) {
        let (name, alias) = match tree {
            UseTree::Path(path) => {
                let before = [before, &[path.ident.to_string()]].concat();
                return self.add_uses(&before, &path.tree);
            }
            UseTree::Group(group) => {
                return group
                    .items
                    .iter()
                    .for_each(|tree| self.add_uses(before, tree));
            }
            UseTree::Glob(_) => (None, "*".to_owned()),
            UseTree::Name(name) if name.ident == "self" => {
                (None, before.last().cloned().unwrap_or_default())
            }
            UseTree::Name(name) => (Some(name.ident.to_string()), name.ident.to_string()),
            UseTree::Rename(name) if name.ident == "self" => (None, name.rename.to_string()),
            UseTree::Rename(name) => (Some(name.ident.to_string()), name.rename.to_string()),
        };
        let path: Name = before.iter().cloned().chain(name).collect();
        self.uses
            .extend(self.absolute(&path).map(|path| (path, alias)));
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let test = |attribute: &Attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg") && list.is_ok_and(|l| l.tokens.to_string() == "test")
    };
    attributes.iter().any(test)
}

impl<'a> Visit<'a> for File {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.add_uses(&[], &item.tree);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a syn::Stmt) {
        let tested = match stmt {
            syn::Stmt::Expr(syn::Expr::If(expr), _) => is_test(&expr.attrs),
            syn::Stmt::Expr(syn::Expr::Call(expr), _) => is_test(&expr.attrs),
            _ => false,
        };
        if !tested {
            visit::visit_stmt(self, stmt);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Name = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if names.len() > 1 {
            self.paths.extend(self.absolute(&names));
        }
        visit::visit_path(self, path);
    }
}

/// The file that defines `name`.
fn owner(files: &Files, name: &[String], depth: usize) -> Name {
    let at = (0..=name.len())
        .rev()
        .find(|&at| files.contains_key(&name[..at]));
    let (module, rest) = name.split_at(at.expect("the crate has a root"));
    let file = &files[module];
    let known = |name: &String| file.defines.contains(name);
    if let Some(first) = rest.first().filter(|first| depth < 10 && !known(first)) {
        for (target, alias) in &file.uses {
            if alias == first {
                return owner(files, &[target, &rest[1..]].concat(), depth + 1);
            }
            let all = files.get(target).filter(|_| alias == "*");
            if all.is_some_and(|all| all.defines.contains(first)) {
                return target.clone();
            }
        }
    }
    module.to_vec()
}

/// The imports that are part of a circle, or between two.
fn circles(files: &Files) -> Vec<String> {
    let mut edges = BTreeSet::new();
    for (from, file) in files {
        let names = file.uses.iter().map(|(name, _)| name).chain(&file.paths);
        let to = names.map(|name| owner(files, name, 0));
        edges.extend(to.filter(|to| to != from).map(|to| (from.clone(), to)));
    }
    loop {
        let from: BTreeSet<Name> = edges.iter().map(|edge| edge.0.clone()).collect();
        let to: BTreeSet<Name> = edges.iter().map(|edge| edge.1.clone()).collect();
        let before = edges.len();
        edges.retain(|edge| from.contains(&edge.1) && to.contains(&edge.0));
        if edges.len() == before {
            break;
        }
    }
    let text = |name: &Name| {
        ["crate".to_owned()]
            .iter()
            .chain(name)
            .cloned()
            .collect::<Name>()
    };
    let told = edges
        .iter()
        .map(|(a, b)| [text(a).join("::"), text(b).join("::")].join(" imports "));
    told.collect()
}

fn add_folder(files: &mut Files, folder: &Path, here: &[String]) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let below = [here, std::slice::from_ref(&stem)].concat();
        if stem.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            add_folder(files, &path, &below);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let above = ["lib", "main", "mod"].contains(&stem.as_str());
            let name = if above { here.to_vec() } else { below };
            let text = fs::read_to_string(&path).expect("a source");
            files.insert(name.clone(), File::read(name, &text));
        }
    }
}

fn files(sources: &[(&[&str], &str)]) -> Files {
    let name = |parts: &[&str]| parts.iter().map(|&part| part.to_owned()).collect::<Name>();
    let read = |&(parts, text): &(&[&str], &str)| (name(parts), File::read(name(parts), text));
    sources.iter().map(read).collect()
}

#[test]
fn no_file_imports_one_that_imports_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for entry in fs::read_dir(crates).expect("the crates") {
        let path = entry.expect("an entry").path();
        let mut files = Files::new();
        add_folder(&mut files, &path.join("src"), &[]);
        assert!(!files.is_empty(), "{}", path.display());
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        found.extend(circles(&files).iter().map(|line| format!("{name}: {line}")));
    }
    assert!(
        found.is_empty(),
        "circles of imports:\n{}",
        found.join("\n")
    );
}

#[test]
fn circles_are_found() {
    let root: (&[&str], &str) = (&[], "mod a; mod b; pub use a::A; pub fn text() {}");
    let b = "pub fn two() { crate::text() }";
    // Between two files; and through the name that the root re-exports.
    for circle in [
        "use super::b::two;",
        "use crate::{b::two, text};",
        "fn f() { super::b::two() }",
    ] {
        let back = "use crate::A;\npub fn two() {}";
        let a = format!("pub struct A; {circle}");
        let found = circles(&files(&[root, (&["a"], &a), (&["b"], back)]));
        assert!(
            found.contains(&"crate::a imports crate::b".to_owned()),
            "{found:?}"
        );
    }
    // A child needs what its parent defines, which needs the child.
    let found = circles(&files(&[
        root,
        (&["a"], "use crate::text; pub struct A;"),
        (&["b"], b),
    ]));
    assert_eq!(found, ["crate imports crate::a", "crate::a imports crate"]);
    let tests = "pub struct A; #[cfg(test)] mod tests { use crate::text; }";
    assert_eq!(
        circles(&files(&[root, (&["a"], tests), (&["b"], b)])),
        [""; 0]
    );
}
