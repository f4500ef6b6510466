//! A shadow of regions: which live, who holds whom, what every object holds. Shared by the property tests
//! and the fuzzer (`fuzz/`).
//!
//! The shadow does not decide whether a store copies or merges; it follows what happened, and checks that
//! what came back has the content and the sharing that it must have, in the region it must be in, and that
//! nothing that is alive refers to what has gone.

use allod_region::counts::State;
use allod_region::{Control, Error, Raw, Region, Value, barrier, life, region_of, transmigrate};
use std::collections::{HashMap, HashSet};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

const MOST_REGIONS: usize = 24;
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
        // SAFETY: a live region's block.
        let same = region_of(self.area(from).control.cast::<u8>().wrapping_add(128))
            == self.area(into).control;
        if from != into && same {
            self.merged(from, into);
        }
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
            assert_eq!(region_of(node.raw.0 as *const u8), home);
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

    fn open_area(&mut self, control: *mut Control, holds: Vec<usize>) {
        assert!(!control.is_null());
        let area =
            Area { control, open: true, frozen: false, refs: 0, tethers: 0, holds, heir: None };
        self.areas.push(Some(area));
    }

    /// Makes an object of a kind in region `i`.
    fn make(&mut self, i: usize, kind: u8, x: usize) {
        let dest = i;
        let operands = [self.operand(x), self.operand(x / 7), self.operand(x / 31)];
        let values = operands.map(|o| value(self.raw(o)));
        let text = "allod ".repeat(x % 90);
        let (made, empty) = self.with(i, |r| match kind % 8 {
            0 => (r.boxed_int(x as i64).raw(), Content::Int(x as i64)),
            1 => (r.float(x as f64).raw(), Content::Float((x as f64).to_bits())),
            2 => (r.string(&text).raw(), Content::Text(text.clone())),
            3 => (r.pair(values[0], values[1]).raw(), Content::Pair([operands[0], operands[1]])),
            4 => (r.boxed(values[0]).raw(), Content::Cell([operands[0]])),
            5 => (r.list(values).raw(), Content::Int(0)),
            6 => (r.array(x % 300, values[0]).raw(), Content::Array(vec![operands[0]; x % 300])),
            _ => (r.dict(x % 20).raw(), Content::Dict(Vec::new())),
        });
        if kind % 8 == 5 {
            return self.adopt_list(dest, value(made), &operands);
        }
        let slots = slots_of(value(made));
        let node = self.add(made, dest, empty);
        self.settle(node, &slots);
    }

    /// Each value that went into a new object was admitted on its own.
    fn settle(&mut self, node: usize, raws: &[Raw]) {
        let dest = self.nodes[node].home;
        let mut last: Option<(Slot, Raw, Slot)> = None;
        let slots = self.nodes[node].content.slots();
        for (i, (raw, slot)) in raws.iter().zip(slots).enumerate() {
            let new = match last {
                Some((s, r, new)) if s == slot && r == *raw => new,
                _ => self.arrived(slot, *raw, dest, &mut HashMap::new()),
            };
            last = Some((slot, *raw, new));
            *self.nodes[node].content.slot(i).unwrap() = new;
        }
    }

    fn adopt_list(&mut self, dest: usize, list: Value<'_>, operands: &[Slot]) {
        let mut at = list;
        let mut before: Option<usize> = None;
        for operand in operands {
            let raws = slots_of(at);
            let node = self.add(at.raw(), dest, Content::Pair([*operand, Slot::Plain(Raw::NIL)]));
            let new = self.arrived(*operand, raws[0], dest, &mut HashMap::new());
            *self.nodes[node].content.slot(0).unwrap() = new;
            if let Some(before) = before {
                *self.nodes[before].content.slot(1).unwrap() = Slot::Node(node);
            }
            before = Some(node);
            at = value(raws[1]);
        }
        assert!(at.is_nil());
    }

    /// Stores something in a slot of a node.
    fn store(&mut self, x: usize, y: usize) {
        let Some(node) = self.handle(x) else { return };
        let operand = self.operand(y);
        let (v, w) = (value(self.nodes[node].raw), value(self.raw(operand)));
        let home = self.nodes[node].home;
        let frozen = self.area(self.home(home)).frozen;
        let i = y % v.len().unwrap_or(2).max(1);
        let stored = match &self.nodes[node].content {
            Content::Pair(_) if i == 0 => v.set_car(w).map(|v| (i, v)),
            Content::Pair(_) => v.set_cdr(w).map(|v| (1, v)),
            Content::Cell(_) => v.set_box(w).map(|v| (0, v)),
            Content::Array(s) if !s.is_empty() => v.set_at(i, w).map(|v| (i, v)),
            Content::Dict(_) => return self.change_dict(node, y, operand),
            _ => return assert_eq!(v.set_car(w), Err(Error::WrongType)),
        };
        match stored {
            Err(error) => assert!(frozen && error == Error::Frozen, "{error}"),
            Ok((i, stored)) => {
                assert!(!frozen);
                let new = self.arrived(operand, stored.raw(), home, &mut HashMap::new());
                *self.nodes[node].content.slot(i).unwrap() = new;
            }
        }
    }

    fn change_dict(&mut self, node: usize, y: usize, operand: Slot) {
        let (d, home) = (value(self.nodes[node].raw), self.nodes[node].home);
        let frozen = self.area(self.home(home)).frozen;
        let key = (y / 3 % 40) as i64;
        let Content::Dict(mut entries) = self.nodes[node].content.clone() else { return };
        let known = entries.iter().position(|e| e.0 == key);
        if y.is_multiple_of(3) {
            match d.remove(Value::int(key)) {
                Err(error) => return assert!(frozen && error == Error::Frozen),
                Ok(v) => {
                    assert_eq!(v.map(Value::raw), known.map(|i| self.raw(entries.remove(i).1)));
                }
            }
        } else {
            if let Err(error) = d.set(Value::int(key), value(self.raw(operand))) {
                return assert!(frozen && error == Error::Frozen);
            }
            let stored = d.get(Value::int(key)).unwrap().raw();
            let new = self.arrived(operand, stored, home, &mut HashMap::new());
            match known {
                Some(i) => entries[i].1 = new,
                None => entries.push((key, new)),
            }
        }
        self.nodes[node].content = Content::Dict(entries);
    }

    /// Copies several values at once: what they share stays shared.
    fn copy(&mut self, dest: usize, x: usize, y: usize) {
        let olds = [self.operand(x), self.operand(y)];
        let mut roots = olds.map(|o| self.raw(o));
        let control = self.area(dest).control;
        // SAFETY: the values are alive and the region is open.
        unsafe { transmigrate::copy(control, &mut roots).unwrap() };
        let mut copies = HashMap::new();
        for (old, raw) in olds.iter().zip(roots) {
            if let Slot::Node(n) = self.arrived(*old, raw, dest, &mut copies) {
                self.handles.push(n);
            }
        }
    }

    /// Leaves a region with survivors, in a region that it was made in or any other.
    fn exit_with(&mut self, i: usize, heir: usize, x: usize) {
        let home = self.home(heir);
        if self.home(i) == home || self.area(home).frozen {
            return;
        }
        let olds = [self.operand(x), self.operand(x / 3)];
        let mut roots = olds.map(|o| self.raw(o));
        let control = self.area(i).control;
        // SAFETY: both regions are this thread's, the first open; its values are used through the roots.
        unsafe { barrier::exit_with(control, self.area(heir).control, &mut roots).unwrap() };
        self.area_mut(i).open = false;
        // SAFETY: the block stays readable.
        let spliced = region_of(control.cast::<u8>().wrapping_add(128)) == self.area(home).control;
        if spliced {
            self.merged(i, home);
        }
        let mut copies = HashMap::new();
        for (old, raw) in olds.iter().zip(roots) {
            let new = match old {
                Slot::Node(n) if self.nodes[*n].raw == raw => *old,
                _ => self.arrived(*old, raw, home, &mut copies),
            };
            if let Slot::Node(n) = new {
                self.handles.push(n);
            }
        }
    }

    /// Sends a region to another thread and takes it back.
    fn send(&mut self, i: usize) {
        let control = self.area(i).control;
        // SAFETY: the region is this thread's until it is detached.
        unsafe {
            if !life::detach(control) {
                return;
            }
            let there = control as usize;
            std::thread::spawn(move || {
                let control = there as *mut Control;
                life::adopt(control);
                let r = ManuallyDrop::new(Region::from_raw(NonNull::new(control).unwrap()));
                r.list((0..50).map(Value::int));
                assert!(life::detach(control));
            })
            .join()
            .unwrap();
            life::adopt(control);
        }
    }

    fn freeze(&mut self, i: usize) {
        let a = self.area(i);
        let merging = self.areas.iter().flatten().any(|o| o.heir == Some(i));
        if a.heir.is_none() && a.holds.is_empty() && !merging {
            // SAFETY: the region is this thread's and not merged.
            unsafe { life::freeze(a.control) };
            self.area_mut(i).frozen = true;
        }
    }

    /// Does the operation that four bytes name.
    fn run(&mut self, four: &[u8]) {
        let (x, y) = (usize::from(four[1]) | usize::from(four[2]) << 8, usize::from(four[3]));
        let makes = |a: &Area| a.open && !a.frozen;
        let live = self.areas.iter().flatten().count();
        // SAFETY: each call is made on a live region of this thread.
        unsafe {
            match four[0] % 32 {
                0 | 1 if live < MOST_REGIONS => self.open_area(life::create(), Vec::new()),
                2 | 3 if live < MOST_REGIONS => {
                    let Some(p) = self.pick(x, |a| a.heir.is_none()) else { return };
                    self.open_area(life::create_in(self.area(p).control), vec![p]);
                }
                4..=14 => {
                    let Some(i) = self.pick(y, makes) else { return };
                    self.make(i, four[0] % 8, x);
                }
                15..=19 => self.store(x, y * 251 + x),
                20 => {
                    let Some(i) = self.pick(y, makes) else { return };
                    self.copy(i, x, x / 5 + y);
                }
                21 | 22 => {
                    let Some(i) = self.pick(x, |a| a.open) else { return };
                    life::exit(self.area(i).control);
                    self.area_mut(i).open = false;
                }
                23 | 24 => {
                    let Some(i) = self.pick(y, |a| makes(a) && a.heir.is_none()) else { return };
                    let held = self.area(i).holds.first().copied();
                    let Some(heir) = held.or(self.pick(x, makes)) else { return };
                    if self.area(self.home(heir)).open {
                        self.exit_with(i, heir, x);
                    }
                }
                25 => {
                    let Some(i) = self.pick(y, |a| makes(a) && a.heir.is_none()) else { return };
                    let Some(&heir) = self.area(i).holds.first() else { return };
                    let home = self.home(heir);
                    if life::splice(self.area(i).control, self.area(heir).control) {
                        self.area_mut(i).open = false;
                        self.merged(i, home);
                    }
                }
                26 => {
                    let Some(i) = self.pick(x, |_| true) else { return };
                    life::retain(self.area(i).control);
                    self.area_mut(i).refs += 1;
                }
                27 => {
                    let Some(i) = self.pick(x, |a| a.refs > 0) else { return };
                    life::release(self.area(i).control);
                    self.area_mut(i).refs -= 1;
                }
                28 => {
                    let Some(i) = self.pick(x, |a| a.open) else { return };
                    life::tether(self.area(i).control);
                    self.area_mut(i).tethers += 1;
                }
                29 => {
                    let Some(i) = self.pick(x, |a| a.tethers > 0) else { return };
                    life::untether(self.area(i).control);
                    self.area_mut(i).tethers -= 1;
                }
                30 if y < 8 => {
                    let Some(i) = self.pick(x, |a| a.open && a.heir.is_none()) else { return };
                    self.send(i);
                }
                30 => {
                    let Some(i) = self.pick(x, makes) else { return };
                    self.freeze(i);
                }
                _ => {
                    let Some(r) = self.pick(x, |a| makes(a) && a.heir.is_none()) else { return };
                    let Some(other) = self.pick(y, |a| a.heir.is_none()) else { return };
                    let known = life::outlives(self.area(other).control, self.area(r).control);
                    if life::keep(self.area(r).control, self.area(other).control) && !known {
                        self.area_mut(r).holds.push(other);
                    }
                }
            }
        }
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
