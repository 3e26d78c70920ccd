//! A random kernel from a seed.

use super::forms::{ATOMICS, CARRIES, FORMS, LOADS, WARP};
use super::model::{CLASSES, COUNTERS, Condition, Kernel, Statement, Trips};
use crate::fuzz::random::Random;

/// The kernel of a seed.
pub fn generate(seed: u64) -> Kernel {
    let mut random = Random::new(seed);
    let block = random.pick(&[32, 64, 96, 33, 7, 1, 64, 128]);
    let grid = random.pick(&[1, 1, 2, 3]);
    let size = random.pick(&[4, 8, 12, 20, 30]);
    let mut generator = Generator { random, block };
    let body = generator.statements(size, Place { top: true, masked: false, depth: 0 });
    Kernel { seed, block, grid, body }
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Place {
    /// All threads of the block come by.
    top: bool,
    /// The lanes of `%mask` come by.
    masked: bool,
    depth: usize,
}

impl Place {
    fn inside(self) -> Place {
        Place { top: false, masked: false, depth: self.depth + 1 }
    }
}

struct Generator {
    random: Random,
    block: u32,
}

impl Generator {
    fn register(&mut self, class: char) -> String {
        let (_, count, _) = CLASSES.into_iter().find(|c| c.0 == class).unwrap_or(CLASSES[0]);
        format!("%{class}{}", self.random.below(count))
    }

    fn number(&mut self) -> i64 {
        let random = &mut self.random;
        match random.below(5) {
            0 => random.between(-4, 4),
            1 => random.between(-40, 300),
            2 => 1 << random.below(31),
            3 => random.pick(&[i64::from(i32::MAX), i64::from(i32::MIN), 0xff, 0xffff, -1]),
            _ => random.between(i64::from(i32::MIN), i64::from(i32::MAX)),
        }
    }

    fn operand(&mut self, letter: char) -> String {
        let is_number = self.random.percent(40);
        match letter {
            'W' if is_number => self.number().to_string(),
            'D' if is_number => self.number().to_string(),
            'H' if is_number => self.random.between(-300, 300).to_string(),
            'F' if is_number => {
                let bits = self.random.pick(&[
                    0u32,
                    0x8000_0000,
                    0x3f80_0000,
                    0xc0a0_0000,
                    1,
                    0x7f80_0000,
                    0x7fc0_0000,
                    0x0080_0000,
                    0x4b00_0001,
                    0x3eaa_aaab,
                ]);
                format!("0f{bits:08X}")
            }
            'W' | 'D' | 'H' | 'F' => self.register(letter.to_ascii_lowercase()),
            's' => self.random.below(70).to_string(),
            'B' if is_number => self.random.below(256).to_string(),
            'B' => self.register('w'),
            't' => self.random.below(256).to_string(),
            'P' if is_number => format!("!{}", self.register('p')),
            'P' => self.register('p'),
            _ => self.register(letter),
        }
    }

    fn predicate(&mut self) -> String {
        self.operand('P')
    }

    fn statements(&mut self, size: usize, place: Place) -> Vec<Statement> {
        let count = 1 + self.random.below(size);
        (0..count).map(|_| self.statement(size, place)).collect()
    }

    fn statement(&mut self, size: usize, place: Place) -> Statement {
        let nests = place.depth < 4 && size > 1;
        match self.random.below(20) {
            0..=8 => self.compute(),
            9 => self.carry(),
            10 => self.load(),
            11 => self.local(),
            12 => self.atomic(),
            13 if place.top => self.exchange(),
            14 if self.whole_warps(place) => self.warp(place),
            15 if nests => self.repeat(size / 2, place),
            16 if nests => self.switch(size / 3, place),
            17 if place.depth < 2 => self.call(),
            18 | 19 if nests => self.branch(size / 2, place),
            _ => self.compute(),
        }
    }

    /// Whether warp operations are defined here.
    fn whole_warps(&self, place: Place) -> bool {
        place.masked || (place.top && self.block.is_multiple_of(32))
    }

    fn guard(&mut self) -> Option<String> {
        self.random.percent(15).then(|| format!("@{}", self.predicate()))
    }

    fn compute(&mut self) -> Statement {
        let (opcode, letters) = self.random.pick(FORMS);
        let operands: Vec<String> = letters.chars().map(|letter| self.operand(letter)).collect();
        let line = format!("{opcode} {};", operands.join(", "));
        Statement::Lines(line, self.guard())
    }

    fn carry(&mut self) -> Statement {
        let template = self.random.pick(CARRIES);
        // Both results differ, so that none is overwritten before it is read.
        let first = self.random.below(8);
        let second = (first + 1 + self.random.below(7)) % 8;
        let mut line = template.replace("{0}", &format!("%w{first}"));
        line = line.replace("{1}", &format!("%w{second}"));
        for number in 2..6 {
            let register = self.register('w');
            line = line.replace(&format!("{{{number}}}"), &register);
        }
        Statement::Lines(line, self.guard())
    }

    fn load(&mut self) -> Statement {
        let (ty, letters, bytes) = self.random.pick(LOADS);
        let index = self.register('w');
        let registers: Vec<String> = letters
            .chars()
            .scan(self.random.below(8), |number, class| {
                let (_, count, _) = CLASSES.into_iter().find(|c| c.0 == class)?;
                *number += 1;
                Some(format!("%{class}{}", *number % count))
            })
            .collect();
        let destination = match &registers[..] {
            [one] => one.clone(),
            _ => format!("{{{}}}", registers.join(", ")),
        };
        let (space, address) = match self.random.below(3) {
            0 => ("", "%base"),
            1 => (".global.nc", "%at"),
            _ => (".global", "%at"),
        };
        let generic = match space {
            "" => "\n\tcvta.global.u64 %base, %at;",
            _ => "",
        };
        let line = format!(
            "and.b32 %index, {index}, {};\n\tmul.wide.u32 %at, %index, {bytes};\n\t\
             add.u64 %at, %in, %at;{generic}\n\tld{space}.{ty} {destination}, [{address}];",
            256 / bytes - 1
        );
        Statement::Lines(line, self.guard())
    }

    fn local(&mut self) -> Statement {
        let (index, value) = (self.register('w'), self.register('w'));
        let access = match self.random.below(4) {
            0 => format!("ld.local.b32 {value}, [%at];"),
            1 => format!("cvta.local.u64 %at, %at;\n\tld.b32 {value}, [%at];"),
            2 => format!("st.local.u16 [%at+2], {value};"),
            _ => format!("st.local.b32 [%at], {value};"),
        };
        let line = format!(
            "and.b32 %index, {index}, 15;\n\tmul.wide.u32 %at, %index, 4;\n\t\
             mov.b64 %base, stack;\n\tadd.u64 %at, %base, %at;\n\t{access}"
        );
        Statement::Lines(line, self.guard())
    }

    fn atomic(&mut self) -> Statement {
        let number = self.random.below(ATOMICS.len());
        let operation = ATOMICS[number];
        let (index, value) = (self.register('w'), self.operand('W'));
        let (space, base) = match self.random.percent(50) {
            true => ("global", "mov.b64 %base, %counters;"),
            false => ("shared", "mov.b64 %base, sums;"),
        };
        let line = format!(
            "and.b32 %index, {index}, {};\n\tadd.u32 %index, %index, {};\n\t\
             mul.wide.u32 %at, %index, 4;\n\t{base}\n\tadd.u64 %at, %base, %at;\n\t\
             red.{space}.{operation} [%at], {value};",
            COUNTERS - 1,
            COUNTERS as usize * number
        );
        Statement::Lines(line, self.guard())
    }

    /// Every thread shows a word to the others of its block.
    fn exchange(&mut self) -> Statement {
        let (shown, index, taken) = (self.register('w'), self.register('w'), self.register('w'));
        let line = format!(
            "bar.sync 0;\n\tst.shared.b32 [%own], {shown};\n\tbar.sync 0;\n\t\
             rem.u32 %index, {index}, %threads;\n\tmul.wide.u32 %at, %index, 4;\n\t\
             mov.u64 %base, exchange;\n\tadd.u64 %at, %base, %at;\n\t\
             ld.shared.b32 {taken}, [%at];\n\tbar.sync 0;"
        );
        Statement::Lines(line, None)
    }

    fn warp(&mut self, place: Place) -> Statement {
        let mask = if place.masked { "%mask" } else { "%full" };
        let line = loop {
            let line = self.random.pick(WARP);
            // The value of a lane that does not take part is not defined.
            if !(place.masked && line.starts_with("shfl")) {
                break line;
            }
        };
        let line = line
            .replace("{0}", &self.register('w'))
            .replace("{1}", &self.register('p'))
            .replace("{2}", &self.register('w'))
            .replace("{3}", &self.register('p'))
            .replace("{m}", mask);
        Statement::Lines(line, None)
    }

    fn call(&mut self) -> Statement {
        let (result, a, b) = (self.register('w'), self.register('w'), self.register('d'));
        Statement::Lines(
            format!(
                "{{\n\t.param .b32 pa;\n\t.param .b64 pb;\n\t.param .b32 pr;\n\t\
                 st.param.b32 [pa], {a};\n\tst.param.b64 [pb], {b};\n\t\
                 call.uni (pr), blend, (pa, pb);\n\tld.param.b32 {result}, [pr];\n\t}}"
            ),
            None,
        )
    }

    fn repeat(&mut self, size: usize, place: Place) -> Statement {
        if place.top && self.random.percent(40) {
            let trips = Trips::Constant(1 + self.random.below(4) as u32);
            let inside = Place { depth: place.depth + 1, ..place };
            return Statement::Loop(trips, None, self.statements(size, inside));
        }
        let trips = Trips::Register(self.register('w'), self.random.pick(&[1, 3, 7]));
        let leave = self.random.percent(40).then(|| self.predicate());
        Statement::Loop(trips, leave, self.statements(size, place.inside()))
    }

    fn switch(&mut self, size: usize, place: Place) -> Statement {
        let register = self.register('w');
        let count = self.random.pick(&[2, 4]);
        let ways = (0..count).map(|_| self.statements(size.max(1), place.inside())).collect();
        Statement::Switch(register, ways)
    }

    fn branch(&mut self, size: usize, place: Place) -> Statement {
        if place.top && self.random.percent(25) {
            let inside = Place { depth: place.depth + 1, ..place };
            let then = self.statements(size, inside);
            let other =
                if self.random.percent(50) { self.statements(size, inside) } else { vec![] };
            return Statement::If(Condition::Block, then, other);
        }
        let predicate = self.predicate();
        let masked = place.top && self.block.is_multiple_of(32);
        let then = self.statements(size, Place { masked, ..place.inside() });
        let other =
            if self.random.percent(50) { self.statements(size, place.inside()) } else { vec![] };
        let condition = match masked {
            true => Condition::Warp(predicate),
            false => Condition::Thread(predicate),
        };
        Statement::If(condition, then, other)
    }
}
