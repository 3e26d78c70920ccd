//! Programs of random instructions: whatever they are, a launch ends, with or without a fault,
//! and twice the same way.

use nbcc_isa::{Imm, Instruction, MachineInstruction};
use nbcc_isa_simt::ops::{OPTIONAL, ROWS};
use nbcc_isa_simt::{Inst, Op, PhysReg, RegClass};

use crate::support::{Bench, program};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
}

/// A random instruction of a row; registers and targets are made to fit.
fn instruction(random: &mut Random, length: u64) -> Inst<PhysReg> {
    loop {
        let row = &ROWS[random.below(ROWS.len() as u64) as usize];
        if row.opcode >= u32::from(OPTIONAL) {
            continue;
        }
        let bits = u128::from(random.next()) << 64 | u128::from(random.next());
        let covered = nbcc_isa::table::covered_bits(row) & !0xff;
        let mut word = bits & covered & !0x3f00 | 0x700 | u128::from(row.opcode);
        if random.below(3) == 0 {
            word = word & !0xf00 | u128::from(random.below(7)) << 8;
        }
        let Ok(inst) = Inst::decode(word) else { continue };
        let mut inst: Inst<PhysReg> = inst.map_regs(|operand| {
            let entry = match operand.class {
                RegClass::Word => random.below(12),
                RegClass::Wide => 2 * random.below(6),
                RegClass::Pred => random.below(7),
            };
            PhysReg::new(operand.class, entry as u16)
        });
        match &mut inst.op {
            Op::Bra { target, reconverge } => {
                *target = Imm::Value(16 * random.below(length) as i32);
                let meet = 16 * random.below(length) as i32;
                *reconverge = Imm::Value(if random.below(4) == 0 { -1 } else { meet });
            }
            Op::Addr { object, .. } => *object = 0,
            Op::Trap { .. } | Op::Brkpt {} | Op::AssertFail { .. } => continue,
            // Mostly inside of the buffer, whose address is in D2.
            Op::Ld { base, offset, .. } | Op::St { base, offset, .. } => {
                *base = nbcc_isa_simt::operands::Base::Reg(PhysReg::new(RegClass::Wide, 12));
                offset.0 = 4 * random.below(64) as i32;
            }
            _ => {}
        }
        return inst;
    }
}

/// Runs random programs on so many blocks, with each of these numbers of threads.
fn run_programs(seed: u64, count: u32, grid: u32, threads: &[usize]) {
    let mut random = Random(seed);
    let (mut ended, mut faults) = (0, 0);
    for _ in 0..count {
        let mut random_program = program("ld64.param.weak D12, [0x0], 0\nexit");
        let length = 4 + random.below(20);
        let first = random_program.code.text[0];
        random_program.code.text.truncate(0);
        random_program.code.text.push(first);
        while (random_program.code.text.len() as u64) < length {
            let inst = instruction(&mut random, length + 1);
            random_program.code.text.push(inst);
            if random_program.code.text.last().is_some_and(|inst| *inst == Op::Exit {}.into()) {
                random_program.code.text.pop();
            }
        }
        random_program.code.text.push(Op::Exit {}.into());
        random_program.kernels[0].instructions = random_program.code.text.len() as u32;
        if random_program.validate().is_err() {
            continue;
        }
        let run = |threads: &usize| {
            let mut bench = Bench::with(random_program.clone(), 4096);
            (bench.max_cycles, bench.threads) = (5000, *threads);
            let result = bench.launch(grid, 45).map_err(|error| error.to_string());
            (result, bench.words(1024), bench.output)
        };
        let first = run(&1);
        assert!(threads.iter().all(|threads| run(threads) == first), "{random_program:?}");
        match first.0 {
            Ok(_) => ended += 1,
            Err(_) => faults += 1,
        }
    }
    let enough = count / 30;
    assert!(ended > enough && faults > enough, "{ended} ended, {faults} with faults");
}

#[test]
fn launches_of_random_programs_end() {
    run_programs(0x1234_5678_9abc_def1, 3000, 2, &[1]);
}

#[test]
fn random_programs_do_the_same_on_any_threads() {
    run_programs(0xfedc_ba98_7654_3210, 300, 1500, &[2, 3]);
}
