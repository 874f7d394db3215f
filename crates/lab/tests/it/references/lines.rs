//! Data for line fits from the Statistical Reference Datasets of the National Institute of Standards and Technology
//! (NIST StRD, linear regression).
//!
//! Norris has certified values for a straight line. The others are certified for other models (no intercept, six
//! predictors, polynomials). Their data are ill-conditioned for a line too, and because they are integers the line's
//! true values can be computed exactly: see [`exact`].

/// Norris: calibration of ozone monitors, (x, y).
pub(crate) const NORRIS: [(f64, f64); 36] = [
    (0.2, 0.1),
    (337.4, 338.8),
    (118.2, 118.1),
    (884.6, 888.0),
    (10.1, 9.2),
    (226.5, 228.1),
    (666.3, 668.5),
    (996.3, 998.5),
    (448.6, 449.1),
    (777.0, 778.9),
    (558.2, 559.2),
    (0.4, 0.3),
    (0.6, 0.1),
    (775.5, 778.1),
    (666.9, 668.8),
    (338.0, 339.3),
    (447.5, 448.9),
    (11.6, 10.8),
    (556.0, 557.7),
    (228.1, 228.3),
    (995.8, 998.0),
    (887.6, 888.8),
    (120.2, 119.6),
    (0.3, 0.3),
    (0.3, 0.6),
    (556.8, 557.6),
    (339.1, 339.3),
    (887.2, 888.0),
    (999.0, 998.5),
    (779.0, 778.9),
    (11.1, 10.2),
    (118.3, 117.6),
    (229.2, 228.9),
    (669.1, 668.4),
    (448.9, 449.2),
    (0.5, 0.2),
];

/// Certified slope of Norris.
pub(crate) const NORRIS_SLOPE: f64 = 1.00211681802045;
/// Certified intercept of Norris.
pub(crate) const NORRIS_INTERCEPT: f64 = -0.262323073774029;
/// The certified R².
pub(crate) const NORRIS_R2: f64 = 0.999993745883712;

/// NoInt1, (x, y).
pub(crate) const NO_INT_1: [(i128, i128); 11] = [
    (60, 130),
    (61, 131),
    (62, 132),
    (63, 133),
    (64, 134),
    (65, 135),
    (66, 136),
    (67, 137),
    (68, 138),
    (69, 139),
    (70, 140),
];

/// NoInt2, (x, y).
pub(crate) const NO_INT_2: [(i128, i128); 3] = [(4, 3), (5, 4), (6, 4)];

/// Longley's employment, y.
const LONGLEY_Y: [i128; 16] = [
    60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761, 66019, 67857, 68169, 66513, 68655,
    69564, 69331, 70551,
];

/// Longley's predictors: deflator (tenfold), gross national product, unemployed, armed forces,
/// population, year.
const LONGLEY_X: [[i128; 16]; 6] = [
    [830, 885, 882, 895, 962, 981, 990, 1000, 1012, 1046, 1084, 1108, 1126, 1142, 1157, 1169],
    [
        234289, 259426, 258054, 284599, 328975, 346999, 365385, 363112, 397469, 419180, 442769,
        444546, 482704, 502601, 518173, 554894,
    ],
    [
        2356, 2325, 3682, 3351, 2099, 1932, 1870, 3578, 2904, 2822, 2936, 4681, 3813, 3931, 4806,
        4007,
    ],
    [
        1590, 1456, 1616, 1650, 3099, 3594, 3547, 3350, 3048, 2857, 2798, 2637, 2552, 2514, 2572,
        2827,
    ],
    [
        107608, 108632, 109773, 110929, 112075, 113270, 115094, 116219, 117388, 118734, 120445,
        121950, 123366, 125368, 127852, 130081,
    ],
    [
        1947, 1948, 1949, 1950, 1951, 1952, 1953, 1954, 1955, 1956, 1957, 1958, 1959, 1960, 1961,
        1962,
    ],
];

/// Longley's employment against each of the six predictors.
pub(crate) fn longley() -> Vec<Vec<(i128, i128)>> {
    LONGLEY_X.iter().map(|column| column.iter().copied().zip(LONGLEY_Y).collect()).collect()
}

/// Noise added to the polynomial of Wampler3; times 100 in Wampler4, times 10 000 in Wampler5.
pub(crate) const WAMPLER_NOISE: [i128; 21] = [
    759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048, -2048, 1838, -2048, 2048,
    -2048, 2523, -2048, 2048, -2048, 759,
];

/// Wampler1, 2 (times 100 000), 3, 4 and 5: polynomials of the fifth degree at 0 … 20.
pub(crate) fn wampler() -> [Vec<(i128, i128)>; 5] {
    let set = |y: &dyn Fn(i128) -> i128| (0..21).map(|x| (x, y(x))).collect();
    let ones = |x: i128| (0..6).map(|power| x.pow(power)).sum::<i128>();
    let noise = |x: i128| usize::try_from(x).map_or(0, |place| WAMPLER_NOISE[place]);
    [
        set(&ones),
        set(&|x| (0..6).map(|power| 10i128.pow(5 - power) * x.pow(power)).sum()),
        set(&|x| ones(x) + noise(x)),
        set(&|x| ones(x) + 100 * noise(x)),
        set(&|x| ones(x) + 10_000 * noise(x)),
    ]
}

/// Returns slope, intercept and R² of integer data, rounded only at the end.
///
/// The normal equations are computed in integers, without loss of precision even for ill-conditioned data.
pub(crate) fn exact(points: &[(i128, i128)]) -> (f64, f64, f64) {
    let sum = |of: &dyn Fn(i128, i128) -> i128| points.iter().map(|&(x, y)| of(x, y)).sum::<i128>();
    let n = points.len() as i128;
    let (x, y) = (sum(&|x, _| x), sum(&|_, y| y));
    let xx = n * sum(&|x, _| x * x) - x * x;
    let xy = n * sum(&|x, y| x * y) - x * y;
    let yy = n * sum(&|_, y| y * y) - y * y;
    let over = |above: i128, below: i128| above as f64 / below as f64;
    (over(xy, xx), over(y * xx - xy * x, n * xx), over(xy, xx) * over(xy, yy))
}
