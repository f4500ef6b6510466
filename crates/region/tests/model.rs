//! Regions against models: any graph keeps its shape one-to-one however it travels, and a dictionary
//! behaves as a list of pairs.

mod shadow;

use allod_region::{Raw, Region, Value, region_of};
use proptest::prelude::*;
use std::collections::HashMap;

/// A node of the shadow graph; indices may point anywhere, so cycles and sharing are common.
#[derive(Clone, Debug)]
enum Node {
    Int(i64),
    Float(f64),
    Text(String),
    Pair(usize, usize),
    Array(Vec<usize>),
    Cell(usize),
    Dict(Vec<(i64, usize)>),
}

fn node(n: usize) -> impl Strategy<Value = Node> {
    let at = 0..n;
    prop_oneof![
        any::<i64>().prop_map(Node::Int),
        (-1e9..1e9).prop_map(Node::Float),
        ".{0,20}".prop_map(Node::Text),
        (at.clone(), at.clone()).prop_map(|(a, b)| Node::Pair(a, b)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Node::Pair(a, b)),
        prop::collection::vec(at.clone(), 0..12).prop_map(Node::Array),
        at.clone().prop_map(Node::Cell),
        prop::collection::vec((0..40i64, at), 0..20).prop_map(Node::Dict),
    ]
}

fn graph() -> impl Strategy<Value = Vec<Node>> {
    (1..60usize).prop_flat_map(|n| prop::collection::vec(node(n), n))
}

/// Makes all nodes, then joins them through the barrier.
fn build<'r>(r: &'r Region, graph: &[Node]) -> Vec<Value<'r>> {
    let values: Vec<Value<'r>> = graph
        .iter()
        .map(|node| match node {
            Node::Int(i) => r.boxed_int(*i),
            Node::Float(f) => r.float(*f),
            Node::Text(t) => r.string(t),
            Node::Pair(..) => r.pair(Value::NIL, Value::NIL),
            Node::Array(a) => r.array(a.len(), Value::NIL),
            Node::Cell(_) => r.boxed(Value::NIL),
            Node::Dict(_) => r.dict(0),
        })
        .collect();
    for (v, node) in values.iter().zip(graph) {
        match node {
            Node::Pair(a, b) => {
                v.set_car(values[*a]).unwrap();
                v.set_cdr(values[*b]).unwrap();
            }
            Node::Array(a) => {
                for (i, at) in a.iter().enumerate() {
                    v.set_at(i, values[*at]).unwrap();
                }
            }
            Node::Cell(a) => drop(v.set_box(values[*a]).unwrap().raw()),
            Node::Dict(entries) => {
                for (k, at) in entries {
                    v.set(Value::int(*k), values[*at]).unwrap();
                }
            }
            _ => {}
        }
    }
    values
}

/// Checks that what `root` reaches has the shape of the graph from `start`: each node is one object and
/// each object one node.
fn same_shape(graph: &[Node], start: usize, root: Value<'_>, home: &Region) {
    let mut object_of: HashMap<usize, Raw> = HashMap::new();
    let mut node_of: HashMap<Raw, usize> = HashMap::new();
    let mut todo = vec![(start, root)];
    while let Some((n, v)) = todo.pop() {
        if let Some(known) = object_of.insert(n, v.raw()) {
            assert_eq!(known, v.raw(), "a node has become two objects");
            continue;
        }
        assert_eq!(node_of.insert(v.raw(), n), None, "two nodes have become one object");
        // SAFETY: the value is alive.
        assert_eq!(unsafe { region_of(v.raw().0 as *const u8) }, home.control());
        match &graph[n] {
            Node::Int(i) => assert_eq!(v.as_int(), Some(*i)),
            Node::Float(f) => assert_eq!(v.as_float(), Some(*f)),
            Node::Text(t) => assert_eq!(v.as_str(), Some(&t[..])),
            Node::Pair(a, b) => {
                todo.extend([(*a, v.car().unwrap()), (*b, v.cdr().unwrap())]);
            }
            Node::Array(a) => {
                assert_eq!(v.len(), Some(a.len()));
                todo.extend(a.iter().enumerate().map(|(i, at)| (*at, v.at(i).unwrap())));
            }
            Node::Cell(a) => todo.push((*a, v.unbox().unwrap())),
            Node::Dict(entries) => {
                let last: HashMap<i64, usize> = entries.iter().copied().collect();
                assert_eq!(v.len(), Some(last.len()));
                todo.extend(last.iter().map(|(k, at)| (*at, v.get(Value::int(*k)).unwrap())));
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Journey {
    /// Copied to a new region; the old one goes.
    Bring,
    /// Out of a scope, with so much garbage left behind.
    Scope(usize),
    Splice,
    /// By a message to another thread.
    Message,
}

fn journey() -> impl Strategy<Value = Journey> {
    prop_oneof![
        Just(Journey::Bring),
        (0..3000usize).prop_map(Journey::Scope),
        Just(Journey::Splice),
        Just(Journey::Message),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_graph_keeps_its_shape_on_every_journey(
        graph in graph(),
        journeys in prop::collection::vec(journey(), 1..6),
    ) {
        let mut home = Region::new();
        let mut root = build(&home, &graph)[0].raw();
        for journey in journeys {
            let next = Region::new();
            // SAFETY: the value is alive in `home`.
            let v = unsafe { Value::from_raw(root) };
            let arrived = match journey {
                Journey::Bring => next.bring(v),
                Journey::Scope(garbage) => next.scope(|inner| {
                    (0..garbage).for_each(|i| _ = inner.float(i as f64));
                    inner.bring(v)
                }),
                Journey::Splice => next.splice(|inner| inner.bring(v)),
                Journey::Message => {
                    let message = allod_region::Message::build(|r| r.bring(v));
                    message.receive(&next)
                }
            };
            same_shape(&graph, 0, arrived, &next);
            // The source is untouched.
            same_shape(&graph, 0, v, &home);
            root = arrived.raw();
            home = next;
            // SAFETY: the value is alive in the new home.
            same_shape(&graph, 0, unsafe { Value::from_raw(root) }, &home);
        }
    }

    #[test]
    fn regions_live_hold_and_keep_the_closure_rule_in_any_sequence(
        bytes in prop::collection::vec(any::<u8>(), 0..1600),
    ) {
        shadow::run_bytes(&bytes);
    }

    #[test]
    fn copies_are_equal_and_hash_alike(graph in graph()) {
        use std::hash::{BuildHasher, RandomState};
        let (a, b) = (Region::new(), Region::new());
        let v = build(&a, &graph)[0];
        let w = b.bring(v);
        prop_assert!(v == w);
        let state = RandomState::new();
        prop_assert_eq!(state.hash_one(v), state.hash_one(w));
        prop_assert_eq!(v.to_string(), w.to_string());
    }

    #[test]
    fn a_dict_behaves_as_a_list_of_pairs(
        operations in prop::collection::vec((0..3u8, 0..60i64, any::<i32>()), 0..400),
        texts in any::<bool>(),
    ) {
        let r = Region::new();
        let d = r.dict(0);
        let key = |k: i64| if texts { r.string(&k.to_string()) } else { r.boxed_int(k) };
        let mut model: Vec<(i64, i32)> = Vec::new();
        for (what, k, v) in operations {
            let known = model.iter().position(|e| e.0 == k);
            match what {
                0 => {
                    let removed = d.remove(key(k)).unwrap().and_then(Value::as_int);
                    prop_assert_eq!(removed, known.map(|i| i64::from(model.remove(i).1)));
                }
                1 => {
                    d.set(key(k), Value::int(i64::from(v))).unwrap();
                    match known {
                        Some(i) => model[i].1 = v,
                        None => model.push((k, v)),
                    }
                }
                _ => {
                    let found = d.get(key(k)).and_then(Value::as_int);
                    prop_assert_eq!(found, known.map(|i| i64::from(model[i].1)));
                }
            }
            prop_assert_eq!(d.len(), Some(model.len()));
        }
        let entries: Vec<i64> = d.entries().map(|e| e.1.as_int().unwrap()).collect();
        prop_assert_eq!(entries, model.iter().map(|e| i64::from(e.1)).collect::<Vec<_>>());
    }
}
