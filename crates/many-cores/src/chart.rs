//! Chart of the curves as SVG: two panels with logarithmic axes.

use std::fmt::Write;

use crate::report::PUBLISHED;
use crate::senders::{Curve, SENDERS};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 470.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 340.0;
/// Left edges of the panels, and their width.
const LEFT: [f64; 2] = [60.0, 510.0];
const PANEL: f64 = 370.0;
/// Range of the vertical axis in powers of ten.
const POWERS: (f64, f64) = (4.5, 9.0);
const COLOURS: [&str; 6] = ["#1f6f8b", "#2a9d4a", "#b5651d", "#7a7a7a", "#8e44ad", "#c0392b"];

fn x(panel: usize, senders: u32) -> f64 {
    LEFT[panel] + PANEL * f64::from(senders).log2() / 6.0
}

fn y(speed: f64) -> f64 {
    let part = (speed.log10() - POWERS.0) / (POWERS.1 - POWERS.0);
    BOTTOM - (BOTTOM - TOP) * part.clamp(0.0, 1.0)
}

/// Draws the curves of purlin and of the models, and the published ones of OTP.
pub(crate) fn draw(curves: &[Curve]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{}\" y=\"22\" font-size=\"16\">Simulated: many senders, one receiver, two \
         sockets; dashed: OTP as published</text>\n",
        LEFT[0]
    );
    for (panel, title) in
        ["messages sent per second", "messages received per second"].iter().enumerate()
    {
        frame(&mut svg, panel, title);
        for (index, curve) in curves.iter().filter(|curve| curve.in_chart).enumerate() {
            let speeds = if panel == 0 { &curve.sent } else { &curve.received };
            line(&mut svg, panel, speeds, COLOURS[index % COLOURS.len()], "");
        }
        for (index, (_, speeds)) in PUBLISHED[2 * panel..2 * panel + 2].iter().enumerate() {
            line(&mut svg, panel, speeds, COLOURS[4 + index], " stroke-dasharray=\"5 4\"");
        }
    }
    let names = curves.iter().filter(|curve| curve.in_chart).map(|curve| curve.queue.as_str());
    let names = names
        .zip(COLOURS)
        .chain([("OTP 25, published", COLOURS[4]), ("OTP 24, published", COLOURS[5])]);
    for (index, (name, colour)) in names.enumerate() {
        let (left, top) =
            (LEFT[0] + 280.0 * (index % 3) as f64, BOTTOM + 70.0 + 24.0 * (index / 3) as f64);
        writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{}\" width=\"18\" height=\"4\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"{top}\">{name}</text>",
            top - 6.0,
            left + 26.0
        )
        .expect("a string takes any text");
    }
    svg + "</svg>\n"
}

/// Draws the axes of a panel.
fn frame(svg: &mut String, panel: usize, title: &str) {
    let left = LEFT[panel];
    let mut add = |text: String| svg.push_str(&text);
    add(format!("<text x=\"{left}\" y=\"{}\">{title}</text>\n", TOP - 12.0));
    for power in 5..=9 {
        let at = y(10_f64.powi(power));
        let label = ["100 k", "1 M", "10 M", "100 M", "1 G"][power as usize - 5];
        add(format!(
            "<path d=\"M{left} {at:.1}h{PANEL}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
            left - 6.0,
            at + 4.0
        ));
    }
    for senders in SENDERS {
        let at = x(panel, senders);
        let below = BOTTOM + 18.0;
        add(format!("<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{senders}</text>\n"));
    }
    let (middle, below) = (left + PANEL / 2.0, BOTTOM + 38.0);
    add(format!("<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">senders</text>\n"));
}

fn line(svg: &mut String, panel: usize, speeds: &[f64], colour: &str, style: &str) {
    let points = SENDERS.iter().zip(speeds);
    let points =
        points.map(|(&senders, &speed)| format!("{:.1},{:.1}", x(panel, senders), y(speed)));
    let points: Vec<String> = points.collect();
    writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{style}/>",
        points.join(" ")
    )
    .expect("a string takes any text");
}
