/*!
Charts as SVG: lines over a limit, and bars. Numbers in, text out.

Colours are classes (`s0`, `s1`, ..), so that the page chooses them for light and dark; every line also has its own
marker and its name at its end, so that no one depends on colours.
*/

use std::fmt::Write as _;

/// The names that the style of the page has colours for.
const COLOURS: usize = 10;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 146.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
/// Between the names at the ends of lines.
const NAME_HEIGHT: f64 = 16.0;

/// A line: its name, the number of its colour, and its points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
}

/// What a chart is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axes<'a> {
    /// For those who cannot see it.
    pub(super) title: &'a str,
    pub(super) x: &'a str,
    pub(super) y: &'a str,
}

/// Lines from x = 0 and y = 0, named at their ends.
pub(super) fn lines(axes: Axes<'_>, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|line| &line.points);
    let x_max = points().map(|point| point.0).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let y_max = points().map(|point| point.1).fold(0.0, f64::max);
    let (step, y_max) = ticks(y_max);
    let x_of = |x: f64| LEFT + (WIDTH - LEFT - RIGHT) * x / x_max;
    let y_of = |y: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / y_max;

    let mut svg = start(axes.title, HEIGHT);
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for tick in 0..=(y_max / step).round() as u32 {
        let (value, y) = (f64::from(tick) * step, y_of(f64::from(tick) * step));
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 7.0,
            y + 4.0,
            shortest(value)
        );
    }
    for tick in 0..=5 {
        let value = x_max * f64::from(tick) / 5.0;
        let x = x_of(value);
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{x:.1} {bottom}v4\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 17.0,
            shortest(value)
        );
    }
    let _ = write!(
        svg,
        "<path class=\"axis\" d=\"M{LEFT} {bottom}H{right}\"/>\
         <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text class=\"label\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 8.0,
        escaped(axes.x),
        f64::midpoint(TOP, bottom),
        escaped(axes.y)
    );
    for line in series {
        draw_line(&mut svg, line, &x_of, &y_of);
    }
    name_lines(&mut svg, series, &y_of);
    svg + "</svg>"
}

fn draw_line(svg: &mut String, line: &Series, x_of: &dyn Fn(f64) -> f64, y_of: &dyn Fn(f64) -> f64) {
    let class = line.colour % COLOURS;
    let mut path = String::new();
    let mut markers = String::new();
    for (at, &(x, y)) in line.points.iter().enumerate() {
        let (x, y) = (x_of(x), y_of(y));
        let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
        markers += &marker(line.colour, x, y);
    }
    let _ = write!(svg, "<g class=\"s{class}\"><path class=\"line\" d=\"{path}\"/>{markers}</g>");
}

/// Names beside the ends of lines, moved apart where they would overlap.
fn name_lines(svg: &mut String, series: &[Series], y_of: &dyn Fn(f64) -> f64) {
    let mut names: Vec<(f64, &Series)> =
        series.iter().filter_map(|line| Some((y_of(line.points.last()?.1), line))).collect();
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends: Vec<f64> = names.iter().map(|name| name.0).collect();
    let positions = apart(&ends, TOP + 4.0, HEIGHT - BOTTOM + 2.0);
    let right = WIDTH - RIGHT;
    for ((end, line), position) in names.into_iter().zip(positions) {
        let _ = write!(
            svg,
            "<g class=\"s{}\"><path class=\"leader\" d=\"M{:.1} {end:.1}L{:.1} {position:.1}\"/>{}\
             <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            line.colour % COLOURS,
            right + 5.0,
            right + 18.0,
            marker(line.colour, right + 24.0, position),
            right + 33.0,
            position + 4.0,
            escaped(&line.name)
        );
    }
}

/// Positions as near as possible to sorted ends, `NAME_HEIGHT` from each other, and within bounds while there is room.
fn apart(ends: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut positions: Vec<f64> = Vec::new();
    for &end in ends {
        let above = positions.last().map_or(top, |position| position + NAME_HEIGHT);
        positions.push(end.max(above));
    }
    let mut below = bottom;
    for position in positions.iter_mut().rev() {
        *position = position.min(below);
        below = *position - NAME_HEIGHT;
    }
    positions
}

/// Bars of one kind of number, each with its value in words.
pub(super) fn bars(title: &str, bars: &[(Series, String)]) -> String {
    const BAR: f64 = 26.0;
    const NAMES: f64 = 112.0;
    const VALUES: f64 = 92.0;
    let max = bars.iter().filter_map(|(bar, _)| Some(bar.points.first()?.1)).fold(0.0, f64::max);
    let mut svg = start(title, BAR * bars.len() as f64 + 8.0);
    for (at, (bar, words)) in bars.iter().enumerate() {
        let y = BAR * at as f64 + 4.0;
        let value = bar.points.first().map_or(0.0, |point| point.1);
        let width = if max > 0.0 { ((WIDTH - NAMES - VALUES) * value / max).max(1.0) } else { 1.0 };
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <g class=\"s{}\"><rect class=\"bar\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
             rx=\"2\"/></g><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            NAMES - 8.0,
            y + 15.0,
            escaped(&bar.name),
            bar.colour % COLOURS,
            y + 2.0,
            BAR - 8.0,
            NAMES + width + 7.0,
            y + 15.0,
            escaped(words)
        );
    }
    svg + "</svg>"
}

fn start(title: &str, height: f64) -> String {
    let title = escaped(title);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    )
}

fn marker(colour: usize, x: f64, y: f64) -> String {
    let shape = match colour % 5 {
        0 => return format!("<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"/>"),
        1 => "m-3-3h6v6h-6z",
        2 => "m0-4.2l4 7h-8z",
        3 => "m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z",
        _ => "m0 4.2l4-7h-8z",
    };
    format!("<path class=\"dot\" d=\"M{x:.1} {y:.1}{shape}\"/>")
}

/// A round step, and the first multiple of it that is at least `max`: three to six steps.
fn ticks(max: f64) -> (f64, f64) {
    if max <= 0.0 {
        return (0.25, 1.0);
    }
    let power = 10f64.powf((max / 5.0).log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| max / step <= 5.0 + 1e-9)
        .unwrap_or(10.0 * power);
    (step, (max / step - 1e-9).ceil() * step)
}

/// A tick's number without zeros at its end.
fn shortest(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text that is safe inside elements and quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_largest_value() {
        for (max, step, top) in [(1.0, 0.2, 1.0), (0.348, 0.1, 0.4), (0.0, 0.25, 1.0), (7.0, 2.0, 8.0)] {
            let (found_step, found_top) = ticks(max);
            assert!(
                (found_step - step).abs() < 1e-9 && (found_top - top).abs() < 1e-9,
                "{max}: {found_step}"
            );
        }
    }

    #[test]
    fn names_are_apart_and_in_order() {
        let positions = apart(&[20.0, 21.0, 200.0, 273.0, 274.0], 18.0, 276.0);
        assert!(positions.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT - 1e-9), "{positions:?}");
        assert!(positions[0] >= 18.0 && positions[4] <= 276.0, "{positions:?}");
        assert_eq!(positions[2], 200.0);
    }

    #[test]
    fn names_of_sites_cannot_break_out() {
        let line = Series { name: "<script>\"&".into(), colour: 0, points: vec![(0.1, 0.5)] };
        let svg = lines(Axes { title: "<t>", x: "x", y: "y" }, &[line]);
        assert!(!svg.contains("<script>") && !svg.contains("<t>"), "{svg}");
    }
}
