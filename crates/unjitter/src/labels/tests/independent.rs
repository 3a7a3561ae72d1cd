//! Classes of independent labels, against the sum over everything.

use super::*;

#[test]
fn classes_of_independent_labels_are_near_the_sum_over_everything() {
    use Order::{Free, Ordered};
    use Variable::Presence;
    // Annotators, order, stamps of each, one stamp at most or any number, mean errors of log Z and p(y).
    type Row<'a> = (&'a str, &'a [(Variable, Order)], usize, bool, [f64; 2]);
    let rows: [Row<'_>; 4] = [
        ("free", &[(Presence, Free)], 3, false, [0.03, 0.01]),
        ("free, any number", &[(Presence, Free)], 3, true, [0.002, 0.001]),
        ("in order", &[(Presence, Ordered)], 3, false, [1e-9, 1e-9]),
        ("two annotators", &[(Presence, Free), (Presence, Free)], 2, false, [0.03, 0.01]),
    ];
    for (what, about, stamps, shared, [evidence, presence]) in rows {
        let of = |seed: u64| {
            let case = Case { rates: None, ..Case::draw(2, about, stamps, seed) };
            errors(&if shared { case.sharing() } else { case }, AGREEING)
        };
        let all: Vec<[f64; 4]> = (0..20).map(of).collect();
        let mean = |k: usize| all.iter().map(|own| own[k]).sum::<f64>() / 20.0;
        let worst = |k: usize| all.iter().map(|own| own[k]).fold(0.0, f64::max);
        let told: Vec<String> = (0..4).map(|k| format!("{:.4} {:.4}", mean(k), worst(k))).collect();
        println!("{what}: {}", told.join(" | "));
        assert!(mean(0) < evidence && mean(1) < presence, "{what}");
        // Where stamps belong and of which class their events are is as near as labels.
        assert!(mean(2) < 2.0 * presence && mean(3) < 3.0 * presence + 0.006, "{what}");
    }
}
