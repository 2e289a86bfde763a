//! Objects and arrays as structs and lists: all values of a column are parsed, then each place in
//! them is a column of its own.

use std::collections::HashSet;

use super::join::Seen;
use super::kind::{Kind, kind};
use super::options::Options;
use super::records::Field;
use super::show::{quoted, shown};
use super::types::{Type, Value};
use super::value::{is_rounded, kind_of, value};
use crate::json::{Json, parse};

/// The maximum length of a path, and the maximum number of paths in a column.
const LONGEST: usize = 32;
const MOST: usize = 1000;

/// The type of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PlaceType {
    Plain(Type),
    /// Keys in the order of first appearance.
    Struct(Vec<(String, PlaceType)>),
    List(Box<PlaceType>),
}

/// A parsed value.
#[derive(Clone, Debug)]
struct Node {
    field: Field,
    /// The members of an object.
    members: Vec<(String, Node)>,
    /// The items of an array.
    items: Vec<Node>,
}

/// The numbers of values inside one value of a column that differ from their text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inner {
    /// The number of decimals with different digits as doubles.
    pub rounded: usize,
    /// The number of objects and arrays that are text.
    pub as_text: usize,
}

/// Returns the type of a column of objects or arrays in words, and its values; `None` if it is
/// text.
#[must_use]
pub(super) fn nested(
    fields: &[Option<&Field>],
    options: &Options,
) -> Option<(String, Vec<(Value, Inner)>)> {
    let taken = |field: &Option<&Field>| field.map(|field| node(field, 0, options)).transpose();
    let nodes: Vec<Option<Node>> = fields.iter().map(taken).collect::<Result<_, _>>().ok()?;
    let mut paths = HashSet::new();
    for node in nodes.iter().flatten() {
        collect(node, &mut Vec::new(), &mut paths);
    }
    let has_nul = paths.iter().flatten().flatten().any(|key| key.contains('\0'));
    if paths.len() > MOST || has_nul {
        return None;
    }
    let place = place(&nodes.iter().flatten().collect::<Vec<_>>(), options);
    let value = |node: &Option<Node>| match node {
        Some(node) if kind(&node.field, options) != Kind::Missing => {
            let mut inner = Inner::default();
            count(node, &place, options, &mut inner);
            (Value::Nested(show(node, &place, options)), inner)
        }
        _ => (Value::Missing, Inner::default()),
    };
    Some((word(&place), nodes.iter().map(value).collect()))
}

/// Whether a field is an object or an array.
#[must_use]
pub(super) fn is_nested(field: &Field) -> bool {
    !field.is_quoted && matches!(field.raw.first(), Some(b'{' | b'['))
}

/// Adds the counts inside a value.
fn count(node: &Node, place: &PlaceType, options: &Options, inner: &mut Inner) {
    let kind = kind_of(Some(&node.field), options);
    match place {
        _ if kind == Kind::Missing => {}
        PlaceType::Plain(Type::Text) => inner.as_text += usize::from(is_nested(&node.field)),
        PlaceType::Plain(plain) => {
            let value = value(&kind, *plain, &node.field);
            inner.rounded += usize::from(is_rounded(&node.field, &value, options));
        }
        PlaceType::List(item) => {
            node.items.iter().for_each(|it| count(it, item, options, inner))
        }
        PlaceType::Struct(fields) => {
            for (key, place) in fields {
                let member = node.members.iter().find(|(own, _)| own == key);
                member.into_iter().for_each(|(_, node)| count(node, place, options, inner));
            }
        }
    }
}

struct TooDeep;

/// Parses a value at a path of this length.
fn node(field: &Field, depth: usize, options: &Options) -> Result<Node, TooDeep> {
    let mut node = Node { field: field.clone(), members: Vec::new(), items: Vec::new() };
    if !is_nested(field) || kind(field, options) == Kind::Missing {
        return Ok(node);
    }
    let raw = &field.raw[1..field.raw.len() - 1];
    for part in split(raw, b',') {
        if depth == LONGEST {
            return Err(TooDeep);
        }
        if field.raw[0] == b'[' {
            node.items.push(self::node(&leaf(part), depth + 1, options)?);
            continue;
        }
        let [key, value] = split(part, b':')[..] else { panic!("a key and a value") };
        let key = String::from_utf8(leaf(key).text).expect("UTF-8 was checked");
        node.members.push((key, self::node(&leaf(value), depth + 1, options)?));
    }
    Ok(node)
}

/// Returns the parts of a text between separators outside strings and brackets; none if it is
/// blank.
fn split(text: &[u8], between: u8) -> Vec<&[u8]> {
    let (mut parts, mut start, mut open, mut is_string) = (Vec::new(), 0, 0, false);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' if is_string => at += 1,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => open += 1,
            b'}' | b']' => open -= 1,
            byte if byte == between && open == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(&text[start..]);
    let is_blank = parts.len() == 1 && parts[0].iter().all(|byte| b" \t\r".contains(byte));
    if is_blank { Vec::new() } else { parts }
}

/// Returns a value with surrounding blanks.
fn leaf(text: &[u8]) -> Field {
    let text = std::str::from_utf8(text).expect("UTF-8 was checked");
    let raw = text.trim_matches([' ', '\t', '\r']);
    let (is_quoted, text) = match raw.starts_with('"').then(|| parse(raw)) {
        Some(Some(Json::String(text))) => (true, text),
        Some(_) => panic!("a string: {raw}"),
        None => (false, raw.to_owned()),
    };
    Field { at: 0, raw: raw.as_bytes().to_vec(), text: text.into_bytes(), is_quoted }
}

/// Adds the paths to all values inside a value; the path of an item ends without a key.
fn collect(
    node: &Node,
    path: &mut Vec<Option<String>>,
    paths: &mut HashSet<Vec<Option<String>>>,
) {
    let members = node.members.iter().map(|(key, node)| (Some(key.clone()), node));
    for (key, node) in members.chain(node.items.iter().map(|item| (None, item))) {
        path.push(key);
        paths.insert(path.clone());
        collect(node, path, paths);
        path.pop();
    }
}

/// Returns the type of all values at a place.
fn place(nodes: &[&Node], options: &Options) -> PlaceType {
    let mut seen = Seen::default();
    nodes.iter().for_each(|node| seen.add(&kind(&node.field, options)));
    match seen.join().to_type() {
        Type::Struct => {
            let mut keys: Vec<&String> = Vec::new();
            for (key, _) in nodes.iter().flat_map(|node| &node.members) {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            let of_key = |key: &String| {
                let members = nodes.iter().flat_map(|node| &node.members);
                let its: Vec<&Node> =
                    members.filter(|(own, _)| own == key).map(|(_, node)| node).collect();
                (key.clone(), place(&its, options))
            };
            PlaceType::Struct(keys.into_iter().map(of_key).collect())
        }
        Type::List => {
            let items: Vec<&Node> = nodes.iter().flat_map(|node| &node.items).collect();
            PlaceType::List(Box::new(place(&items, options)))
        }
        plain => PlaceType::Plain(plain),
    }
}

fn word(place: &PlaceType) -> String {
    match place {
        PlaceType::Plain(plain) => plain.word(),
        PlaceType::List(item) => format!("list<{}>", word(item)),
        PlaceType::Struct(fields) => {
            let field = |(key, place): &(String, PlaceType)| {
                format!("{}: {}", quoted(key), word(place))
            };
            format!("struct<{}>", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}

fn show(node: &Node, place: &PlaceType, options: &Options) -> String {
    let kind = kind_of(Some(&node.field), options);
    match place {
        _ if kind == Kind::Missing => "-".to_owned(),
        PlaceType::Plain(plain) => shown(&value(&kind, *plain, &node.field), *plain),
        PlaceType::List(item) => {
            let items = node.items.iter().map(|node| show(node, item, options));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        PlaceType::Struct(fields) => {
            let field = |(key, place): &(String, PlaceType)| {
                let member = node.members.iter().find(|(own, _)| own == key);
                member.map_or("-".to_owned(), |(_, node)| show(node, place, options))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}
