//! Imports between the source files of a crate.
//!
//! A file imports another one if it has a `use` declaration or a path in its code that leads to an item defined there.
//! Re-exports are followed to the definition, and a re-export alone is no import. Tests, that is items and modules under
//! `#[cfg(test)]` and the files `tests.rs`, and the crate's root are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use syn::buffer::{Cursor, TokenBuffer};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, ItemMod, ItemUse, Macro, Meta, MetaList, UseTree, Visibility};

/// Largest number of re-exports that are followed.
const MOST_REEXPORTS: usize = 8;

/// Names that a file imports, by the file and the file that defines them.
pub(crate) type Imports<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<String>>;

/// Path of a module, or of an item, from the crate's root.
type Path = Vec<String>;

/// Returns the imports between these files of a crate, each a path from `src` and a text. The error names a file that
/// is not valid Rust.
pub(crate) fn imports<'a>(files: &[(&'a str, &str)]) -> Result<Imports<'a>, String> {
    let mut source = Source::default();
    for (number, (path, text)) in files.iter().enumerate() {
        let Some(module) = module_of(path) else { continue };
        let parsed = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
        let mut reader =
            Reader { source: &mut source, module, file: number, idents: HashSet::new() };
        reader.source.module(&reader.module, number);
        reader.visit_file(&parsed);
        let idents = reader.idents;
        source.idents.insert(number, idents);
    }
    Ok(source.imports(files))
}

/// Returns the path of the module in this file, or `None` for a file of tests or of a separate program.
fn module_of(path: &str) -> Option<Path> {
    let mut module: Path = path.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    let is_test = |name: &String| name == "tests" || name.ends_with("_tests");
    if module[0] == "bin" || module.iter().any(is_test) {
        return None;
    }
    let is_root = module.len() == 1 && matches!(module[0].as_str(), "lib" | "main");
    if is_root || module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    Some(module)
}

/// Modules of a crate.
#[derive(Default)]
struct Source {
    modules: HashMap<Path, Module>,
    /// Modules of tests.
    tests: Vec<Path>,
    /// Identifiers in each file outside of `use` declarations.
    idents: HashMap<usize, HashSet<String>>,
}

#[derive(Default)]
struct Module {
    file: usize,
    /// Items that it defines.
    items: HashSet<String>,
    uses: Vec<Use>,
    /// Paths in its code.
    paths: Vec<Path>,
}

/// One name of a `use` declaration; `*` for all names.
struct Use {
    name: String,
    path: Path,
    is_reexport: bool,
}

impl Source {
    fn module(&mut self, path: &[String], file: usize) -> &mut Module {
        self.modules.entry(path.to_vec()).or_insert_with(|| Module { file, ..Module::default() })
    }

    fn imports<'a>(&self, files: &[(&'a str, &str)]) -> Imports<'a> {
        let mut imports = Imports::new();
        for (at, module) in &self.modules {
            let used = |name: &String| self.idents[&module.file].contains(name);
            let uses = module.uses.iter().filter(|one| !one.is_reexport || used(&one.name));
            for path in uses.map(|one| &one.path).chain(&module.paths) {
                let Some(target) = self.definition(at, path, 0) else { continue };
                let to = self.modules[&target].file;
                if to != module.file && !self.is_left_out(at) && !self.is_left_out(&target) {
                    let name = path.last().cloned().unwrap_or_default();
                    imports.entry((files[module.file].0, files[to].0)).or_default().insert(name);
                }
            }
        }
        imports
    }

    fn is_left_out(&self, module: &[String]) -> bool {
        module.is_empty() || self.tests.iter().any(|test| module.starts_with(test))
    }

    /// Returns the module that defines what the path means in the module `at`, or `None` if it is outside of the crate.
    fn definition(&self, at: &[String], path: &[String], followed: usize) -> Option<Path> {
        let (mut module, mut rest) = (at.to_vec(), path);
        match path.first()?.as_str() {
            "crate" => (module, rest) = (Path::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {}
            first if self.modules.contains_key(&child(at, first)) => {}
            _ => return None,
        }
        while let Some((first, after)) = rest.split_first() {
            let next = child(&module, first);
            match first.as_str() {
                "super" => drop(module.pop()?),
                _ if self.modules.contains_key(&next) => module = next,
                _ => break,
            }
            rest = after;
        }
        let Some((name, after)) = rest.split_first() else { return Some(module) };
        let Module { items, uses, .. } = self.modules.get(&module)?;
        if items.contains(name) || followed == MOST_REEXPORTS {
            return Some(module);
        }
        let named = uses.iter().filter(|one| one.name == *name).find_map(|one| {
            let whole = [&one.path, after].concat();
            self.definition(&module, &whole, followed + 1)
        });
        let globs = uses.iter().filter(|one| one.name == "*" && one.is_reexport);
        let has_it = |of: &Path| self.modules[of].items.contains(name);
        let mut all = globs.filter_map(|one| self.definition(&module, &one.path, followed + 1));
        named.or_else(|| all.find(has_it)).or(Some(module))
    }
}

fn child(module: &[String], name: &str) -> Path {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// Visitor of the items of a file.
struct Reader<'s> {
    source: &'s mut Source,
    /// The current module.
    module: Path,
    file: usize,
    idents: HashSet<String>,
}

impl Reader<'_> {
    fn current(&mut self) -> &mut Module {
        self.source.module(&self.module, self.file)
    }

    fn add_uses(&mut self, tree: &UseTree, mut path: Path, is_reexport: bool) {
        let (last, name) = match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.unraw().to_string());
                return self.add_uses(&tree.tree, path, is_reexport);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| {
                    self.add_uses(tree, path.clone(), is_reexport);
                });
            }
            UseTree::Name(tree) => (Some(&tree.ident), Some(&tree.ident)),
            UseTree::Rename(tree) => (Some(&tree.ident), Some(&tree.rename)),
            UseTree::Glob(_) => (None, None),
        };
        // `use path::{self}` names the module itself.
        path.extend(last.map(unraw).filter(|last| last != "self"));
        let name = match name.map(unraw) {
            Some(name) if name == "self" => path.last().cloned().unwrap_or_default(),
            Some(name) => name,
            None => "*".to_owned(),
        };
        self.current().uses.push(Use { name, path, is_reexport });
    }

    fn add_path(&mut self, path: Path) {
        if path.len() > 1 {
            self.current().paths.push(path);
        }
    }

    /// Visits tokens that are not parsed: those of a macro or an attribute.
    fn tokens(&mut self, mut cursor: Cursor<'_>) {
        while !cursor.eof() {
            if let Some((inside, _, _, after)) = cursor.any_group() {
                self.tokens(inside);
                cursor = after;
            } else if let Some((first, mut after)) = cursor.ident() {
                let mut path = vec![unraw(&first)];
                while let Some((next, further)) = segment(after) {
                    path.push(unraw(&next));
                    after = further;
                }
                self.idents.extend(path.iter().cloned());
                self.add_path(path);
                cursor = after;
            } else if let Some((_, after)) = cursor.token_tree() {
                cursor = after;
            }
        }
    }
}

/// Returns the identifier after `::`.
fn segment(cursor: Cursor<'_>) -> Option<(Ident, Cursor<'_>)> {
    let (first, cursor) = cursor.punct()?;
    let (second, cursor) = cursor.punct()?;
    if first.as_char() == ':' && second.as_char() == ':' { cursor.ident() } else { None }
}

fn unraw(ident: &Ident) -> String {
    ident.unraw().to_string()
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        if attributes.iter().any(is_cfg_test) {
            if let Item::Mod(module) = item {
                let path = child(&self.module, &unraw(&module.ident));
                self.source.tests.push(path);
            }
            return;
        }
        self.current().items.extend(name.map(unraw));
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let Some((_, items)) = &item.content else { return };
        self.module.push(unraw(&item.ident));
        self.current();
        items.iter().for_each(|item| self.visit_item(item));
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        self.add_uses(&item.tree, Path::new(), is_reexport);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add_path(path.segments.iter().map(|segment| unraw(&segment.ident)).collect());
        visit::visit_path(self, path);
    }

    /// The path in `pub(in path)` is no import.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_ident(&mut self, ident: &'ast Ident) {
        self.idents.insert(unraw(ident));
    }

    fn visit_macro(&mut self, invoked: &'ast Macro) {
        self.visit_path(&invoked.path);
        self.tokens(TokenBuffer::new2(invoked.tokens.clone()).begin());
    }

    fn visit_meta_list(&mut self, list: &'ast MetaList) {
        self.tokens(TokenBuffer::new2(list.tokens.clone()).begin());
    }
}

/// Returns the attributes of an item and the name that it defines.
fn head(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, Some(&item.ident)),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// Returns whether the attribute is `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_cfg_test(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    let text = list.tokens.to_string().replace(' ', "");
    attribute.path().is_ident("cfg") && (text == "test" || text.starts_with("all(test,"))
}
