//! What is done to the regions, and at once to their shadow.

use super::{Area, Content, Model, Slot, slots_of, value};
use allod_region::{Control, Error, Raw, Region, Value, barrier, life, transmigrate};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

const MOST_REGIONS: usize = 24;

impl Model {
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

    /// The values that went into a new object were admitted together.
    fn settle(&mut self, node: usize, raws: &[Raw]) {
        let dest = self.nodes[node].home;
        let mut last: Option<(Slot, Raw, Slot)> = None;
        let mut copies = HashMap::new();
        let slots = self.nodes[node].content.slots();
        for (i, (raw, slot)) in raws.iter().zip(slots).enumerate() {
            let new = match last {
                Some((s, r, new)) if s == slot && r == *raw => new,
                _ => self.arrived(slot, *raw, dest, &mut copies),
            };
            last = Some((slot, *raw, new));
            *self.nodes[node].content.slot(i).unwrap() = new;
        }
    }

    fn adopt_list(&mut self, dest: usize, list: Value<'_>, operands: &[Slot]) {
        let mut at = list;
        let mut before: Option<usize> = None;
        let mut copies = HashMap::new();
        for operand in operands {
            let raws = slots_of(at);
            let node = self.add(at.raw(), dest, Content::Pair([*operand, Slot::Plain(Raw::NIL)]));
            let new = self.arrived(*operand, raws[0], dest, &mut copies);
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
        let into = self.area(home).control;
        let mut held: Vec<usize> = self.area(i).holds.iter().map(|h| self.home(*h)).collect();
        // Frozen ones count through whatever holds them.
        for h in 0..self.areas.len() {
            // SAFETY: both are alive.
            let holds = |a: &Area| a.frozen && unsafe { life::outlives(a.control, control) };
            if h != i && !held.contains(&h) && self.areas[h].as_ref().is_some_and(holds) {
                held.push(h);
            }
        }
        // SAFETY: what a region holds is alive.
        held.retain(|h| unsafe { !life::outlives(self.area(*h).control, into) });
        // SAFETY: both regions are this thread's, the first open; its values are used through the roots.
        unsafe { barrier::exit_with(control, self.area(heir).control, &mut roots).unwrap() };
        self.area_mut(i).open = false;
        if self.memory_is_of(control, home) {
            self.merged(i, home);
        } else {
            // Of what the region kept, the heir keeps what survivors reach.
            // SAFETY: blocks stay readable, and the heir is alive.
            held.retain(|h| unsafe { life::outlives(self.area(*h).control, into) });
            self.area_mut(home).holds.extend(held);
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
    pub(super) fn run(&mut self, four: &[u8]) {
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
}
