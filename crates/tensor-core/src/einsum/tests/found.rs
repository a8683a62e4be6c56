//! What the path finder promises: the cheapest tree where that can be known, speed and one answer for
//! one network elsewhere.

use super::{Random, Route, plan};
use crate::einsum::find::find;
use crate::einsum::network::Network;
use crate::einsum::path::Pair;
use crate::einsum::tree::Tree;
use crate::einsum::{Spec, StepKind};

/// A random network of `operands` operands.
fn network(random: &mut Random, operands: usize, indices: usize) -> Network {
    let terms: Vec<Vec<usize>> = (0..operands)
        .map(|_| {
            (0..1 + random.below(3))
                .map(|_| random.below(indices))
                .collect()
        })
        .collect();
    let name = |index: &usize| char::from_u32(u32::try_from(0x4e00 + index).unwrap()).unwrap();
    let text: Vec<String> = terms
        .iter()
        .map(|term| term.iter().map(name).collect())
        .collect();
    let output = if random.below(2) == 0 {
        text[0].chars().take(1).collect()
    } else {
        String::new()
    };
    let spec = Spec::parse(&format!("{}->{output}", text.join(","))).unwrap();
    let sizes: Vec<usize> = (0..indices).map(|_| 2 + random.below(9)).collect();
    let shapes: Vec<Vec<usize>> = terms
        .iter()
        .map(|term| term.iter().map(|index| sizes[*index]).collect())
        .collect();
    Network::bind(&spec, &shapes, 8).unwrap()
}

/// What the finder minimises: multiplications, and 16 for each element written.
fn cost(network: &Network, pairs: &[Pair]) -> u128 {
    let tree = Tree::build(network, pairs.to_vec(), 8).unwrap();
    let written = |at: usize| network.volume(&tree.indices[tree.operands + at]).unwrap();
    let step = |(at, step): (usize, &crate::einsum::tree::Step)| {
        // What one operand alone has is summed before, at the same cost on every path.
        let private: Vec<u32> = [&step.left_private, &step.right_private]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        step.volume / network.volume(&private).unwrap() + 16 * written(at)
    };
    tree.steps.iter().enumerate().map(step).sum()
}

/// Every tree over the nodes of `live`, by brute force.
fn cheapest(network: &Network, live: &[usize], pairs: &mut Vec<Pair>, best: &mut u128) {
    if live.len() == 1 {
        *best = cost(network, pairs).min(*best);
        return;
    }
    for (at, first) in live.iter().enumerate() {
        for second in &live[at + 1..] {
            let result = network.operands.len() + pairs.len();
            let rest = live
                .iter()
                .copied()
                .filter(|node| node != first && node != second);
            let next: Vec<usize> = rest.chain([result]).collect();
            pairs.push(Pair::Two(*first, *second));
            cheapest(network, &next, pairs, best);
            pairs.pop();
        }
    }
}

#[test]
fn few_operands_take_the_cheapest_tree() {
    for seed in 0..60 {
        let random = &mut Random(seed);
        let operands = 3 + random.below(3);
        let network = network(random, operands, 5);
        let mut best = u128::MAX;
        let live: Vec<usize> = (0..operands).collect();
        cheapest(&network, &live, &mut Vec::new(), &mut best);
        assert_eq!(cost(&network, &find(&network)), best, "seed {seed}");
    }
}

#[test]
fn many_operands_take_no_worse_a_tree_than_from_left_to_right() {
    for seed in 0..40 {
        let random = &mut Random(seed);
        let network = network(random, 20, 12);
        let left_to_right: Vec<Pair> = (1..20)
            .map(|next| Pair::Two(if next == 1 { 0 } else { 18 + next }, next))
            .collect();
        assert!(
            cost(&network, &find(&network)) <= cost(&network, &left_to_right),
            "seed {seed}"
        );
    }
}

#[test]
fn one_network_has_one_path() {
    let network = network(&mut Random(5), 30, 20);
    assert_eq!(find(&network), find(&network.clone()));
}

#[test]
fn what_shares_nothing_is_multiplied_last() {
    let spec = "ab,bc,cd,de,ef,uv,vw,wx,xy,yz->afuz";
    let plan = plan(spec, &[&[4usize, 4][..]; 10], Route::Found).unwrap();
    let kinds: Vec<bool> = plan
        .steps()
        .iter()
        .map(|step| step.kind == StepKind::Multiply)
        .collect();
    assert_eq!(kinds, [[false; 8].as_slice(), &[true]].concat(), "{plan}");
}

#[test]
fn thousands_of_operands_are_no_trouble() {
    let name = |at: u32| char::from_u32(0x4e00 + at).unwrap();
    // A chain, a comb with a hyper-edge through all of it, and one index in everything.
    let chain: Vec<String> = (0..5000)
        .map(|at| format!("{}{}", name(at), name(at + 1)))
        .collect();
    let comb: Vec<String> = (0..5000)
        .map(|at| format!("!{}{}", name(at), name(at + 1)))
        .collect();
    for (spec, rank) in [
        (format!("{}->", chain.join(",")), 2),
        (format!("{}->!", comb.join(",")), 3),
        (format!("{}->", vec!["!"; 5000].join(",")), 1),
        (format!("{}->", vec![""; 5000].join(",")), 0),
    ] {
        let shape = [2, 2, 2];
        let plan = plan(&spec, &vec![&shape[..rank]; 5000], Route::Found).unwrap();
        assert_eq!(plan.steps().len(), 4999);
        assert!(plan.flops() <= 2 * 4999 * 16, "{}", plan.flops());
    }
}

#[test]
fn a_network_of_hopeless_rank_is_refused_in_good_time() {
    // Ten thousand operands of four random indices each: any path runs into hundreds of indices.
    let network = network(&mut Random(1), 10_000, 10_000);
    let pairs = find(&network);
    assert_eq!(pairs.len(), 9_999);
    let refused = Tree::build(&network, pairs, 8);
    assert!(matches!(
        refused,
        Err(crate::einsum::EinsumError::TooLarge { .. })
    ));
}
