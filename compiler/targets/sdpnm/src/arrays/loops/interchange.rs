//! Nests whose inner loop adds to one element after the other, and whose outer loop comes back to the same elements,
//! as `y[n] += h[k] * x[n + k]` with `n` innermost: the loops change places (loop interchange: Allen, Kennedy,
//! "Automatic loop interchange", SIGPLAN 1984), so that each element is a sum of the inner loop.

use std::collections::BTreeMap;

use nbcc_analysis::{AffineForms, LoopForest, ValueRanges};
use nbcc_ir::{
    Block, BlockCall, Builder, Cfg, Dominators, Extent, Function, Inst, IntCond, LoopInfo, Mem, Op,
    Storage, Terminator, Type, Value,
};
use nbcc_opt::{cse, dce, fold, licm, simplify_cfg, unreachable};

use super::nest::{Carried, Nest};
use crate::arrays::facts::evolution::{Evolution, Evolutions};
use crate::arrays::versions::version::results;

/// Bytes of a word of the shared memory.
const WORD: u64 = 4;

/// Lets the loops of such nests change places; whether there are some.
pub fn run(func: &mut Function) -> bool {
    let mut changed = false;
    while let Some(nest) = find(func) {
        exchange(func, &nest);
        unreachable::run(func);
        for clean in [fold::run, cse::run, licm::run, simplify_cfg::run, dce::run] {
            clean(func);
        }
        changed = true;
    }
    changed
}

fn find(func: &Function) -> Option<Nest> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let around = forest.loops.values().filter(|data| !data.inner.is_empty());
    let mut nests = around.filter_map(|data| Nest::new(func, data.header));
    nests.find(|nest| may_exchange(func, nest))
}

/// Whether iterations may run in the other order: all accesses are inside, and what is stored is loaded and stored
/// at one place, another one in each iteration of the inner loop, the same in those of the outer one.
fn may_exchange(func: &Function, nest: &Nest) -> bool {
    let Nest { outer, inner, .. } = nest;
    let grows = |carried: &Carried| matches!(carried, Carried::Grows(_));
    let is_used = outer.exit.args.iter().any(|&arg| outer.defines(func, arg));
    if !nest.outside.iter().chain(&nest.within).all(grows)
        || is_used
        || !results(func, outer).is_empty()
    {
        return false;
    }
    let forms = AffineForms::new(func, &Cfg::new(func));
    let evolutions = Evolutions::new(func, inner, &forms);
    let ranges = ValueRanges::new(func);
    let insts = |blocks: &[Block]| -> Vec<Inst> {
        blocks.iter().flat_map(|&block| func.blocks[block].insts.clone()).collect()
    };
    // Where stored objects are accessed.
    let mut places: BTreeMap<Mem, Evolution> = BTreeMap::new();
    let own = insts(&inner.blocks);
    for &inst in &own {
        let Op::Store(mem, subscripts, _) = &func.insts[inst].op else { continue };
        let &[index] = &subscripts[..] else { return false };
        let Some(place) = evolutions.of(index) else { return false };
        let moves = place.step.as_constant().is_some_and(|step| step != 0);
        let stays = place.start.terms.iter().all(|&(value, _)| !outer.defines(func, value));
        let known = places.entry(*mem).or_insert_with(|| place.clone());
        if !moves || !stays || *known != place {
            return false;
        }
    }
    let is_other_name = |mem: Mem| {
        let storage = func.mems[mem].storage;
        let is_object = matches!(storage, Storage::Object(_));
        places
            .keys()
            .any(|&stored| stored != mem && is_object && func.mems[stored].storage == storage)
    };
    // Elements of a column often lie in few banks: from one iteration of the outer loop to the next, loads go on to
    // neighbours.
    let around = Evolutions::new(func, outer, &forms);
    let is_near = |index: Value, bytes: u32| {
        let step = |&(value, factor): &(Value, i32)| -> Option<i64> {
            let step = around.of(value)?.step.as_constant()?;
            Some(i64::from(step) * i64::from(factor))
        };
        let start = match inner.defines(func, index) {
            true => evolutions.of(index).map(|of| of.start),
            false => Some(forms.get(index)).filter(|_| func.ty(index) == Type::I32),
        };
        let steps = start.and_then(|start| start.terms.iter().map(step).sum::<Option<i64>>());
        steps.is_some_and(|step| step.unsigned_abs() * u64::from(bytes) <= WORD)
    };
    let mut loaded = Vec::new();
    let others = insts(&nest.there).into_iter().chain(insts(&nest.back));
    let all = own.into_iter().map(|inst| (inst, true)).chain(others.map(|inst| (inst, false)));
    for (inst, is_own) in all {
        let (mem, subscripts, is_load) = match &func.insts[inst].op {
            Op::Load(_, mem, subscripts) => (*mem, subscripts, true),
            Op::Store(mem, subscripts, _) => (*mem, subscripts, false),
            _ => continue,
        };
        let (&[index], &[Extent::Fixed(count)]) = (&subscripts[..], &func.mems[mem].extents[..])
        else {
            return false;
        };
        if !ranges.fits(index, 0, i64::from(count) - 1) || is_other_name(mem) {
            return false;
        }
        match places.get(&mem) {
            None if is_load && is_near(index, func.mems[mem].element.bytes()) => {}
            Some(place) if is_own && evolutions.of(index).as_ref() == Some(place) => {
                loaded.extend(is_load.then_some(mem));
            }
            _ => return false,
        }
    }
    let is_loaded = places.keys().all(|mem| loaded.contains(mem));
    !places.is_empty() && is_loaded && evolutions.limits().is_empty()
}

/// What counts the iterations of a loop.
struct Counter {
    /// The number of the parameter.
    param: usize,
    step: i32,
    /// What it is behind the last iteration.
    end: i32,
}

impl Counter {
    /// One of the parameters of a loop that runs so often, by what they begin with and what they grow by.
    fn among(firsts: &[Option<i32>], steps: &[i32], trips: u64) -> Option<Counter> {
        let mut all = firsts.iter().zip(steps).enumerate();
        all.find_map(|(param, (&first, &step))| {
            let end = i64::from(first?) + i64::from(step) * i64::try_from(trips).ok()?;
            let end = i32::try_from(end).ok().filter(|_| step != 0)?;
            Some(Counter { param, step, end })
        })
    }

    /// Whether the loop goes on with these arguments.
    fn goes_on(&self, b: &mut Builder<'_>, args: &[Value]) -> Value {
        let end = b.i32(self.end);
        let cond = if self.step > 0 { IntCond::Slt } else { IntCond::Sgt };
        b.value(Op::Icmp(cond, args[self.param], end))
    }
}

/// Lets the loops of a nest change places: the outer header becomes that of the inner loop, with all that stands
/// before the old inner loop behind it.
fn exchange(func: &mut Function, nest: &Nest) {
    let Nest { outer, inner, trips, .. } = nest;
    let steps = |carried: &[Carried]| -> Vec<i32> {
        let step = |carried: &Carried| match carried {
            Carried::Grows(step) => *step,
            _ => unreachable!("all of them grow"),
        };
        // The last one counts where none of the loop does.
        carried.iter().map(step).chain([1]).collect()
    };
    let [above, latch, end] = [(); 3].map(|()| func.add_block());
    for block in [above, latch, end] {
        func.blocks[block].span = outer.span;
    }
    let names = [outer.header, inner.header].map(|header| {
        let info = func.blocks[header].loop_info.take();
        info.map_or(String::new(), |info| info.name)
    });

    // The new outer loop carries what iterations of the old inner one have added to what that began with.
    let types: Vec<Type> =
        func.blocks[inner.header].params.iter().map(|&param| func.ty(param)).collect();
    let mut added: Vec<Value> = types.iter().map(|&ty| func.add_param(above, ty)).collect();
    added.push(func.add_param(above, Type::I32));
    let known = |value: Value| {
        let bits = func.splat_constant(value).filter(|_| func.ty(value) == Type::I32);
        bits.map(|bits| bits as u32 as i32)
    };
    let firsts: Vec<Option<i32>> =
        outer.entry_args.iter().map(|&first| known(first)).chain([Some(0)]).collect();
    let within = (firsts, steps(&nest.outside), trips[0]);
    let zeros: Vec<Option<i32>> =
        types.iter().map(|&ty| (ty == Type::I32).then_some(0)).chain([Some(0)]).collect();
    let around = (zeros, steps(&nest.within), trips[1]);
    func.add_param(outer.header, Type::I32);
    let params = func.blocks[outer.header].params.clone();

    let mut b = Builder::at(func, outer.preheader);
    b.set_span(outer.span);
    let mut args: Vec<Value> = types.iter().map(|&ty| b.constant(ty, 0)).collect();
    args.push(b.i32(0));
    b.terminate(Terminator::Jump(BlockCall { block: above, args }));
    b.switch_to(above);
    let mut args = outer.entry_args.clone();
    args.push(b.i32(0));
    b.jump(outer.header, args);

    b.switch_to(inner.preheader);
    let both = inner.entry_args.iter().zip(&added);
    let args = both.map(|(&first, &more)| b.iadd(first, more)).collect();
    b.terminate(Terminator::Jump(BlockCall { block: inner.header, args }));
    b.func.blocks[inner.latch].terminator =
        Some(Terminator::Jump(BlockCall { block: latch, args: vec![] }));

    let to_end = BlockCall { block: end, args: vec![] };
    let ends = [
        (latch, (outer.header, &names[0]), &params, within, to_end),
        (end, (above, &names[1]), &added, around, outer.exit.clone()),
    ];
    for (block, (header, name), values, (firsts, steps, trips), exit) in ends {
        b.switch_to(block);
        let grown = |(&value, &step): (&Value, &i32)| {
            let step = match b.func.ty(value) {
                Type::I64 => b.constant(Type::I64, i64::from(step) as u64),
                _ => b.i32(step),
            };
            b.iadd(value, step)
        };
        let args: Vec<Value> = values.iter().zip(&steps).map(grown).collect();
        let counter = Counter::among(&firsts, &steps, trips).expect("the last one counts");
        b.func.blocks[header].loop_info = Some(LoopInfo {
            name: name.clone(),
            trips: Some(trips),
            counter: Some(nbcc_ir::Counter {
                value: values[counter.param],
                step: counter.step.into(),
            }),
        });
        let goes_on = counter.goes_on(&mut b, &args);
        b.terminate(Terminator::Branch(goes_on, BlockCall { block: header, args }, exit));
    }
}
