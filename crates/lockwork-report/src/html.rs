// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pages in HTML: one file each, which needs no network. They follow the reader's choice of
//! a dark or a light screen, and fit a phone's width.

use crate::rows::Width;

/// What all pages look like.
const STYLE: &str = "\
:root{color-scheme:light dark;--mark:#c60;--other:#37a}\
body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:70rem;\
overflow-wrap:anywhere}\
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem}\
.wide{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.2rem .7rem;text-align:right;white-space:nowrap}\
th:first-child,td:first-child{text-align:left;white-space:normal;min-width:12rem}\
tr{border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}\
details{margin-left:1rem}summary{cursor:pointer}\
summary:focus-visible,[tabindex]:focus-visible{outline:2px solid}\
figure.chart svg{max-width:none}figure.narrow{display:none}\
figure.narrow svg{max-width:100%;height:auto}\
@media(max-width:60rem){figure.wide{display:none}figure.narrow{display:block}}figure{margin:1rem 0;overflow-x:auto}\
@media(prefers-color-scheme:dark){:root{--mark:#f93;--other:#6bf}\
figure.chart svg{filter:invert(1) hue-rotate(180deg)}}";

/// A page. `style` is added to the style of all pages; `body` is HTML; `script` runs at the
/// end, and the page must be complete without it.
pub fn page(title: &str, style: &str, body: &str, script: &str) -> String {
    let title = escape(title);
    let script = match script {
        "" => String::new(),
        script => format!("<script>\n{script}</script>\n"),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\">\
         <title>{title}</title><style>{STYLE}{style}</style></head><body>\n\
         <h1>{title}</h1>\n{body}{script}</body></html>\n"
    )
}

/// A table. The cells are HTML.
pub fn table<H: AsRef<str>, R: std::borrow::Borrow<[String]>>(header: &[H], rows: &[R]) -> String {
    let mut text = String::from("<div class=\"wide\" tabindex=\"0\"><table><thead><tr>");
    for cell in header {
        text += &format!("<th>{}", escape(cell.as_ref()));
    }
    text += "</tr></thead><tbody>\n";
    for row in rows {
        text += &format!("<tr><td>{}</tr>\n", row.borrow().join("<td>"));
    }
    text + "</tbody></table></div>\n"
}

/// A chart in SVG, drawn once for each width; the screen's width decides which one is shown.
/// Inline, it needs no name of its format.
///
/// # Errors
/// Those of `draw`.
pub fn figure<E>(draw: impl Fn(Width) -> Result<String, E>) -> Result<String, E> {
    let mut text = String::new();
    for (width, class) in [(Width::Wide, "wide"), (Width::Narrow, "narrow")] {
        let svg = draw(width)?;
        let start = svg.find("<svg").unwrap_or(0);
        let svg = svg[start..].replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
        text += &format!("<figure class=\"chart {class}\">{svg}</figure>\n");
    }
    Ok(text)
}

/// Text that is no HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_templates_do_not_become_elements() {
        assert_eq!(escape("f<\"a\" & b>"), "f&lt;&quot;a&quot; &amp; b&gt;");
        let page = page("a<b>", "", "<p>c</p>\n", "");
        assert!(page.contains("<h1>a&lt;b&gt;</h1>\n<p>c</p>\n</body>"));
        assert!(!page.contains("<script"));
    }

    #[test]
    fn a_table_has_a_line_for_each_row() {
        let row = |name: &str| vec![name.to_owned(), "1".to_owned()];
        let text = table(&["Lock", "n"], &[row("a"), row("b")]);
        assert_eq!(text.matches("<tr>").count(), 3);
        assert!(text.contains("<tr><td>a<td>1</tr>"));
    }
}
