//! The forms of a pipeline's indices, and what has been found out already of them and of what stages read:
//! modes, tiles and nests ask for the same many times over, in each of the plans that are compared.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Index;
use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use foldhash::fast::FixedState;
use nbcc_stages::bounds::{IndexForm, index_forms};
use nbcc_stages::{Expr, Func, Pipeline};

use super::Stage;
use super::access::Access;
use super::modes::foreign_accesses;
use super::reads::TiledIndex;

type Memo<K, V> = RefCell<HashMap<K, V, FixedState>>;

/// The form of each index of one pipeline, which whoever asks for more than a form must hand over.
#[derive(Clone, Debug)]
pub struct Forms {
    of: SecondaryMap<Expr, Option<IndexForm>>,
    tiled: Memo<(Expr, u32), Option<Rc<TiledIndex>>>,
    foreign: Memo<(Func, Stage), Rc<[Access]>>,
}

impl Forms {
    /// The forms of all indices of a pipeline.
    pub fn new(pipeline: &Pipeline) -> Forms {
        Forms { of: index_forms(pipeline), tiled: Memo::default(), foreign: Memo::default() }
    }

    /// An index along tiled dimension `k` of a stage, as [`TiledIndex::of`] reads it.
    pub fn tiled(&self, pipeline: &Pipeline, index: Expr, k: u32) -> Option<Rc<TiledIndex>> {
        if let Some(known) = self.tiled.borrow().get(&(index, k)) {
            return known.clone();
        }
        let new = TiledIndex::of(pipeline, self, index, k).map(Rc::new);
        self.tiled.borrow_mut().insert((index, k), new.clone());
        new
    }

    /// What [`foreign_accesses`] finds of a stage.
    pub fn foreign(&self, pipeline: &Pipeline, func: Func, stage: Stage) -> Rc<[Access]> {
        let mut known = self.foreign.borrow_mut();
        let find = || foreign_accesses(pipeline, func, stage).into();
        Rc::clone(known.entry((func, stage)).or_insert_with(find))
    }
}

impl Index<Expr> for Forms {
    type Output = Option<IndexForm>;

    fn index(&self, expr: Expr) -> &Option<IndexForm> {
        &self.of[expr]
    }
}
