use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use ndarray::Array2;
use unjitter::Session;
use unjitter::baselines::*;
use unjitter::evaluation::*;
use unjitter::simulation::Annotator;

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn pvc() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pvc_mitbih");
    let _unused: HashMap<String, f64> = HashMap::new();
    let all = rows(&folder.join("instances.csv"));
    all.chunk_by(|a, b| a[0] == b[0])
        .map(|rows| {
            let columns = rows[0].len() - 3;
            let number = |row: &Vec<String>, k: usize| row[k].parse::<f64>().unwrap();
            let features =
                Array2::from_shape_fn((rows.len(), columns), |(i, j)| number(&rows[i], j + 2));
            let times = rows.iter().map(|row| number(row, 1)).collect();
            let labels = rows.iter().map(|row| number(row, columns + 2) == 1.0).collect();
            let session = Session::new(&rows[0][0], features, times, vec![]).unwrap();
            Recording { session, truth: Some(labels) }
        })
        .collect()
}

#[test]
fn explore() {
    let data = pvc();
    let mut gaps: Vec<f64> = data.iter().flat_map(|r| r.session.times().windows(2).map(|p| p[1] - p[0]).collect::<Vec<_>>()).collect();
    gaps.sort_by(f64::total_cmp);
    let spacing = gaps[gaps.len() / 2];
    for sigma in [1.0, 2.0, 4.0] {
        let noisy: Vec<Recording> = data.iter().enumerate().map(|(k, r)| Annotator::paper_spread(sigma * spacing).annotate(r, k as u64).unwrap()).collect();
        let contenders = [
            Contender::single(HandAligned::default()),
            Contender::single(Imprecise::default()),
            Contender::single(MultipleInstance::default()),
            Contender::single(Naive::default()),
            Contender::single(DropNear { radius: 2.0 * sigma * spacing, ..Default::default() }),
            Contender::single(Smear { width: sigma * spacing, ..Default::default() }),
        ];
        let t = std::time::Instant::now();
        let cv = CrossValidation::default();
        let result = cv.run(&noisy, &contenders, None, &|_| ControlFlow::Continue(())).unwrap();
        for judged in &result.contenders {
            println!("{sigma} {} {:?} {:?}", judged.name, judged.pooled().unwrap().scores(), judged.folds.iter().map(|f| f.log_evidence.unwrap()).sum::<f64>());
        }
        println!("{:?}", t.elapsed());
    }
}
