//! Hundreds of specs drawn from seeds: hyper-edges, traces, ellipses, sizes 1 and 0, scalars.

use super::naive::positions;
use super::{Path, Random, Route, plan, run};
use crate::einsum::Spec;
use std::collections::HashMap;

/// A spec and shapes that fit it.
struct Case {
    spec: String,
    shapes: Vec<Vec<usize>>,
}

impl Case {
    fn draw(random: &mut Random) -> Self {
        let names: Vec<char> = "aβCd0é~".chars().take(1 + random.below(7)).collect();
        let sizes: Vec<usize> = names
            .iter()
            .map(|_| match random.below(40) {
                0 => 0,
                1..=4 => 1,
                draw => 2 + draw % 2,
            })
            .collect();
        let ellipsis: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(3)).collect();
        let with_ellipsis = random.below(3) == 0;
        let mut spec = String::new();
        let mut shapes = Vec::new();
        for at in 0..1 + random.below(6) {
            let mut shape = Vec::new();
            spec.push_str(if at == 0 { "" } else { "," });
            let rank = random.below(5);
            let dots = (with_ellipsis && random.below(2) == 0).then(|| random.below(rank + 1));
            for place in 0..=rank {
                if dots == Some(place) {
                    spec.push_str("...");
                    let used = random.below(ellipsis.len() + 1);
                    for size in &ellipsis[ellipsis.len() - used..] {
                        shape.push(if random.below(4) == 0 { 1 } else { *size });
                    }
                }
                if place < rank {
                    let index = random.below(names.len());
                    spec.push(names[index]);
                    shape.push(sizes[index]);
                }
            }
            shapes.push(shape);
        }
        if random.below(4) != 0 {
            let mut output: Vec<char> = spec.chars().filter(|c| names.contains(c)).collect();
            output.sort_unstable();
            output.dedup();
            let dots = spec.contains('.');
            spec.push_str("->");
            let mut place = if dots {
                random.below(output.len() + 1)
            } else {
                usize::MAX
            };
            while !output.is_empty() {
                if place == 0 {
                    spec.push_str("...");
                }
                place = place.wrapping_sub(1);
                let index = output.swap_remove(random.below(output.len()));
                if random.below(2) == 0 {
                    spec.push(index);
                }
            }
            if place == 0 {
                spec.push_str("...");
            }
        }
        Self { spec, shapes }
    }

    /// A path with steps of one, two and three.
    fn path(&self, random: &mut Random) -> Path {
        let mut left = self.shapes.len();
        let mut steps = Vec::new();
        while left > 1 || random.below(3) == 0 {
            let many = (1 + random.below(3)).min(left);
            let mut positions: Vec<usize> = (0..left).collect();
            let step = (0..many)
                .map(|_| positions.swap_remove(random.below(positions.len())))
                .collect();
            steps.push(step);
            left = left + 1 - many;
        }
        Path::new(steps)
    }
}

/// The sum over every value of every index, straight from the definition.
fn plain(spec: &str, operands: &[(Vec<usize>, Vec<f64>)]) -> (Vec<usize>, Vec<f64>) {
    let spec = Spec::parse(spec).unwrap();
    // Dimensions under an ellipsis are named by private code points, from the last one.
    let dot = |at: usize| char::from_u32(0xe000 + u32::try_from(at).unwrap()).unwrap();
    let names = |term: super::super::Term<'_>, under: usize| -> Vec<char> {
        let before = term.ellipsis.unwrap_or(term.indices.len());
        let dots = (0..under).rev().map(dot);
        term.indices[..before]
            .iter()
            .copied()
            .chain(dots)
            .chain(term.indices[before..].iter().copied())
            .collect()
    };
    let mut sizes: HashMap<char, usize> = HashMap::new();
    let mut terms = Vec::new();
    let mut most = 0;
    for (term, (dims, _)) in spec.inputs().zip(operands) {
        let under = dims.len() - term.indices.len();
        most = most.max(under);
        let term = names(term, under);
        for (name, dim) in term.iter().zip(dims) {
            let size = sizes.entry(*name).or_insert(1);
            *size = if *size == 1 { *dim } else { *size };
        }
        terms.push(term);
    }
    let output = names(
        spec.output(),
        if spec.output().ellipsis.is_some() {
            most
        } else {
            0
        },
    );
    let shape: Vec<usize> = output.iter().map(|name| sizes[name]).collect();
    let summed: Vec<char> = sizes
        .keys()
        .copied()
        .filter(|name| !output.contains(name))
        .collect();
    let summed_dims: Vec<usize> = summed.iter().map(|name| sizes[name]).collect();
    let values = positions(&shape)
        .map(|outer| {
            positions(&summed_dims)
                .map(|inner| {
                    let value = |name: &char| match output.iter().position(|other| other == name) {
                        Some(at) => outer[at],
                        None => inner[summed.iter().position(|other| other == name).unwrap()],
                    };
                    let read = |(term, (dims, values)): (&Vec<char>, &(Vec<usize>, Vec<f64>))| {
                        let flat = term.iter().zip(dims).fold(0, |flat, (name, dim)| {
                            flat * dim + if *dim == 1 { 0 } else { value(name) }
                        });
                        values[flat]
                    };
                    terms.iter().zip(operands).map(read).product::<f64>()
                })
                .sum()
        })
        .collect();
    (shape, values)
}

fn check(seed: u64) {
    let random = &mut Random(seed);
    let case = Case::draw(random);
    let operands: Vec<(Vec<usize>, Vec<f64>)> = case
        .shapes
        .iter()
        .map(|dims| {
            (
                dims.clone(),
                (0..dims.iter().product()).map(|_| random.value()).collect(),
            )
        })
        .collect();
    let shapes: Vec<&[usize]> = case.shapes.iter().map(Vec::as_slice).collect();
    let expected = plain(&case.spec, &operands);
    let found = plan(&case.spec, &shapes, Route::Found)
        .unwrap_or_else(|error| panic!("seed {seed}: {} {shapes:?}: {error}", case.spec));
    let same = |got: (Vec<usize>, Vec<f64>), how: &str| {
        // -0 and 0 are the same number here.
        assert!(
            got == expected,
            "seed {seed}, {how}: {} {shapes:?}\n{got:?}\n{expected:?}",
            case.spec
        );
    };
    same(run(&found, &operands), "found path");
    for _ in 0..3 {
        let path = case.path(random);
        let given = plan(&case.spec, &shapes, Route::Given(&path)).unwrap();
        same(run(&given, &operands), &format!("{path:?}"));
    }
}

#[test]
fn plans_agree_with_the_definition() {
    for seed in 0..3000 {
        check(seed);
    }
}

#[test]
fn the_draw_reaches_every_kind_of_spec() {
    let cases: Vec<Case> = (0..3000)
        .map(|seed| Case::draw(&mut Random(seed)))
        .collect();
    let count = |holds: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| holds(case)).count();
    let in_terms = |case: &Case, index: char| {
        case.spec
            .split("->")
            .next()
            .unwrap_or("")
            .split(',')
            .filter(|term| term.contains(index))
            .count()
    };
    assert!(count(&|case| case.spec.contains("...")) > 300);
    assert!(count(&|case| !case.spec.contains("->")) > 300);
    assert!(count(&|case| case.spec.ends_with("->")) > 100);
    assert!(count(&|case| case.shapes.iter().flatten().any(|size| *size == 0)) > 100);
    assert!(count(&|case| case.shapes.iter().flatten().any(|size| *size == 1)) > 300);
    assert!(count(&|case| in_terms(case, 'a') > 2) > 300, "hyper-edges");
    assert!(count(&|case| case.spec.contains("aa")) > 100, "diagonals");
    assert!(
        count(&|case| case.shapes.iter().any(Vec::is_empty)) > 300,
        "scalars"
    );
}
