//! A shadow of regions: which live, who holds whom, what every object holds. Shared by the property tests
//! and the fuzzer (`fuzz/`).
//!
//! The shadow does not decide whether a store copies or merges; it follows what happened, and checks that
//! what came back has the content and the sharing that it must have, in the region it must be in, and that
//! nothing that is alive refers to what has gone. What is done to regions and shadow is in `operations`.

mod operations;

use allod_region::counts::State;
use allod_region::{Control, Raw, Region, Value, life, region_of};
use std::collections::{HashMap, HashSet};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

const MOST_NODES: usize = 3000;

/// What a region should be.
struct Area {
    control: *mut Control,
    open: bool,
    frozen: bool,
    /// References and tethers that the sequence took.
    refs: usize,
    tethers: usize,
    /// Regions this one holds: its parent, what it keeps, what it inherited.
    holds: Vec<usize>,
    heir: Option<usize>,
}

/// What an object should hold.
#[derive(Clone)]
struct Node {
    raw: Raw,
    home: usize,
    content: Content,
}

#[derive(Clone, PartialEq)]
enum Content {
    Int(i64),
    Float(u64),
    Text(String),
    Pair([Slot; 2]),
    Array(Vec<Slot>),
    Cell([Slot; 1]),
    Dict(Vec<(i64, Slot)>),
}

/// An immediate, or the number of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Plain(Raw),
    Node(usize),
}

impl Content {
    fn slots(&self) -> Vec<Slot> {
        match self {
            Content::Pair(s) => s.to_vec(),
            Content::Cell(s) => s.to_vec(),
            Content::Array(s) => s.clone(),
            Content::Dict(entries) => entries.iter().map(|e| e.1).collect(),
            _ => Vec::new(),
        }
    }

    fn slot(&mut self, i: usize) -> Option<&mut Slot> {
        match self {
            Content::Pair(s) => s.get_mut(i),
            Content::Cell(s) => s.get_mut(i),
            Content::Array(s) => s.get_mut(i),
            Content::Dict(entries) => entries.get_mut(i).map(|e| &mut e.1),
            _ => None,
        }
    }
}

/// The object's own content, its slots as they lie in memory.
fn slots_of(v: Value<'_>) -> Vec<Raw> {
    match v.kind() {
        allod_region::Kind::Pair => vec![v.car().unwrap().raw(), v.cdr().unwrap().raw()],
        allod_region::Kind::Box => vec![v.unbox().unwrap().raw()],
        allod_region::Kind::Array => {
            (0..v.len().unwrap()).map(|i| v.at(i).unwrap().raw()).collect()
        }
        allod_region::Kind::Dict => v.entries().map(|e| e.1.raw()).collect(),
        _ => Vec::new(),
    }
}

fn value(raw: Raw) -> Value<'static> {
    // SAFETY: the model uses values of live regions only.
    unsafe { Value::from_raw(raw) }
}

#[derive(Default)]
pub struct Model {
    areas: Vec<Option<Area>>,
    nodes: Vec<Node>,
    /// What the program holds: nodes of live regions.
    handles: Vec<usize>,
}

impl Model {
    fn area(&self, i: usize) -> &Area {
        self.areas[i].as_ref().expect("a live region")
    }

    fn area_mut(&mut self, i: usize) -> &mut Area {
        self.areas[i].as_mut().expect("a live region")
    }

    /// The region whose objects those of `i` are.
    fn home(&self, mut i: usize) -> usize {
        while let Some(heir) = self.area(i).heir {
            i = heir;
        }
        i
    }

    /// A live region of a rank for which `f` holds.
    fn pick(&self, rank: usize, f: impl Fn(&Area) -> bool) -> Option<usize> {
        let fit = |i: &usize| self.areas[*i].as_ref().is_some_and(&f);
        let all: Vec<usize> = (0..self.areas.len()).filter(fit).collect();
        (!all.is_empty()).then(|| all[rank % all.len()])
    }

    fn handle(&self, rank: usize) -> Option<usize> {
        (!self.handles.is_empty()).then(|| self.handles[rank % self.handles.len()])
    }

    /// A value that is at hand: an immediate or a node.
    fn operand(&self, rank: usize) -> Slot {
        match self.handle(rank) {
            Some(node) if !rank.is_multiple_of(5) => Slot::Node(node),
            _ => Slot::Plain(Raw::small(rank as i64).unwrap()),
        }
    }

    fn raw(&self, slot: Slot) -> Raw {
        match slot {
            Slot::Plain(raw) => raw,
            Slot::Node(n) => self.nodes[n].raw,
        }
    }

    fn with<R>(&self, i: usize, f: impl FnOnce(&Region) -> R) -> R {
        let control = NonNull::new(self.area(i).control).unwrap();
        // SAFETY: the region is open and this thread's; its scope is not left here.
        f(&ManuallyDrop::new(unsafe { Region::from_raw(control) }))
    }

    fn add(&mut self, raw: Raw, home: usize, content: Content) -> usize {
        self.nodes.push(Node { raw, home, content });
        self.handles.push(self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// Follows what became of a value that was stored in, or brought to, the region `dest`: the value
    /// itself, which may mean a merge, or its copy.
    fn arrived(
        &mut self,
        slot: Slot,
        raw: Raw,
        dest: usize,
        copies: &mut HashMap<usize, usize>,
    ) -> Slot {
        let Slot::Node(first) = slot else {
            assert_eq!(self.raw(slot), raw);
            return slot;
        };
        if self.nodes[first].raw == raw && !copies.contains_key(&first) {
            self.follow_merge(self.nodes[first].home, dest);
            return slot;
        }
        let mut todo = vec![(first, raw)];
        while let Some((n, raw)) = todo.pop() {
            if self.nodes[n].raw == raw {
                continue; // It outlives the destination; `check` looks whether that is so.
            }
            if let Some(copy) = copies.get(&n) {
                assert_eq!(self.nodes[*copy].raw, raw, "shared structure has come apart");
                continue;
            }
            let mut content = self.nodes[n].content.clone();
            let slots = slots_of(value(raw));
            let old = content.slots();
            assert_eq!(slots.len(), old.len(), "a copy is of another length");
            todo.extend(old.iter().zip(&slots).filter_map(|(o, s)| match o {
                Slot::Node(n) => Some((*n, *s)),
                Slot::Plain(raw) => {
                    assert_eq!(raw, s);
                    None
                }
            }));
            // The slots are set when all copies are known.
            self.nodes.push(Node { raw, home: dest, content: Content::Int(0) });
            let copy = self.nodes.len() - 1;
            std::mem::swap(&mut self.nodes[copy].content, &mut content);
            copies.insert(n, copy);
        }
        for copy in copies.values() {
            let raws = slots_of(value(self.nodes[*copy].raw));
            let slots = self.nodes[*copy].content.slots();
            for (i, (raw, slot)) in raws.iter().zip(slots).enumerate() {
                let Slot::Node(n) = slot else { continue };
                if self.nodes[n].raw != *raw {
                    *self.nodes[*copy].content.slot(i).unwrap() = Slot::Node(copies[&n]);
                }
            }
        }
        Slot::Node(copies[&first])
    }

    /// A value of region `from` was stored in `into` as it is: the rule was kept, or `from` was merged.
    fn follow_merge(&mut self, from: usize, into: usize) {
        let (from, into) = (self.home(from), self.home(into));
        if from != into && self.memory_is_of(self.area(from).control, into) {
            self.merged(from, into);
        }
    }

    /// Whether objects in the region block `control` count as those of the region `i`.
    fn memory_is_of(&self, control: *mut Control, i: usize) -> bool {
        // SAFETY: regions of this thread, which ends them itself.
        unsafe { region_of(control.cast::<u8>().wrapping_add(128)) == self.area(i).control }
    }

    fn merged(&mut self, from: usize, into: usize) {
        let inherited: Vec<usize> =
            self.area(from).holds.iter().map(|h| self.home(*h)).filter(|h| *h != into).collect();
        self.area_mut(into).holds.extend(inherited);
        self.area_mut(from).heir = Some(into);
    }

    fn is_held(&self, i: usize) -> bool {
        let a = self.area(i);
        let by = |o: &Area| o.holds.contains(&i) || o.heir == Some(i);
        a.open || a.refs > 0 || a.tethers > 0 || self.areas.iter().flatten().any(by)
    }

    /// Takes out of the shadow what nobody holds any more, and compares with the counts.
    fn reap(&mut self) {
        while let Some(i) =
            (0..self.areas.len()).find(|i| self.areas[*i].is_some() && !self.is_held(*i))
        {
            // SAFETY: blocks stay readable.
            let state = unsafe { (*self.area(i).control).counts.state() };
            assert_eq!(state, State::Pooled, "nobody holds the region, and it lives on");
            if let Some(heir) = self.area(i).heir {
                for n in 0..self.nodes.len() {
                    if self.nodes[n].home == i {
                        self.nodes[n].home = heir;
                    }
                }
            } else {
                self.handles.retain(|n| self.nodes[*n].home != i);
            }
            self.areas[i] = None;
        }
        for area in self.areas.iter().flatten() {
            // SAFETY: the region is alive, as the assertion says.
            let state = unsafe { (*area.control).counts.state() };
            assert_ne!(state, State::Pooled, "somebody holds the region, and it is gone");
        }
    }

    /// Looks at everything that can be reached.
    fn check(&self) {
        let (mut todo, mut met) = (self.handles.clone(), HashSet::new());
        while let Some(n) = todo.pop() {
            if !met.insert(n) {
                continue;
            }
            let node = &self.nodes[n];
            assert!(
                self.areas[node.home].is_some(),
                "what is reachable is in a region that is gone"
            );
            let v = value(node.raw);
            let home = self.area(self.home(node.home)).control;
            // SAFETY: as above.
            assert_eq!(unsafe { region_of(node.raw.0 as *const u8) }, home);
            match &node.content {
                Content::Int(i) => assert_eq!(v.as_int(), Some(*i)),
                Content::Float(f) => assert_eq!(v.as_float().map(f64::to_bits), Some(*f)),
                Content::Text(t) => assert_eq!(v.as_str(), Some(&t[..])),
                Content::Dict(entries) => {
                    assert!(
                        v.entries().map(|e| e.0.as_int().unwrap()).eq(entries.iter().map(|e| e.0))
                    );
                    for (k, slot) in entries {
                        assert_eq!(v.get(Value::int(*k)).unwrap().raw(), self.raw(*slot));
                    }
                }
                _ => {}
            }
            let slots = node.content.slots();
            assert!(slots_of(v).into_iter().eq(slots.iter().map(|s| self.raw(*s))), "contents");
            todo.extend(slots.iter().filter_map(|s| match s {
                Slot::Node(n) => Some(*n),
                Slot::Plain(_) => None,
            }));
        }
        let addresses: HashSet<Raw> = met.iter().map(|n| self.nodes[*n].raw).collect();
        assert_eq!(addresses.len(), met.len(), "two objects have become one");
    }

    /// Lets everything go, in some order.
    fn finish(mut self, order: usize) {
        while let Some(i) = self.pick(order, |a| a.open || a.refs > 0 || a.tethers > 0) {
            let control = self.area(i).control;
            let a = self.area_mut(i);
            // SAFETY: what is let go was taken.
            unsafe {
                if a.tethers > 0 {
                    a.tethers -= 1;
                    life::untether(control);
                } else if a.open {
                    a.open = false;
                    life::exit(control);
                } else {
                    a.refs -= 1;
                    life::release(control);
                }
            }
            self.reap();
            self.check();
        }
        assert!(self.areas.iter().flatten().next().is_none(), "regions that hold each other");
    }
}

/// Reads a sequence of operations from bytes, four to an operation, and runs it.
pub fn run_bytes(bytes: &[u8]) {
    let mut model = Model::default();
    for (n, four) in bytes.chunks_exact(4).enumerate() {
        if model.nodes.len() > MOST_NODES {
            break;
        }
        model.run(four);
        model.reap();
        if n.is_multiple_of(8) {
            model.check();
        }
    }
    model.check();
    model.finish(bytes.len());
}
