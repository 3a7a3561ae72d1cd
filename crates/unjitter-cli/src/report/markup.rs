//! The parts of the page that need no script: warnings, cards, figures, tables.

use super::data::{Fact, Figure, TableView};
use super::escape::html;

/// `section`, unless there is nothing to show in it.
pub(super) fn unless_empty<T>(items: &[T], section: &str) -> String {
    if items.is_empty() { String::new() } else { section.into() }
}

pub(super) fn warnings(warnings: &[String]) -> String {
    let items: String = warnings.iter().map(|w| format!("<li>{}</li>\n", html(w))).collect();
    let heading =
        if warnings.len() == 1 { "One thing to be wary of" } else { "Things to be wary of" };
    let section = format!(
        "<section class=\"warnings\" aria-labelledby=\"warnings-heading\">\n\
         <h2 id=\"warnings-heading\">{heading}</h2>\n<ul>\n{items}</ul>\n</section>\n"
    );
    unless_empty(warnings, &section)
}

pub(super) fn facts(facts: &[Fact]) -> String {
    let cards: String = facts.iter().map(card).collect();
    unless_empty(facts, &format!("<dl class=\"facts\">\n{cards}</dl>\n"))
}

fn card(fact: &Fact) -> String {
    format!(
        "<div class=\"card\"><dt>{}</dt><dd class=\"value\">{}</dd><dd>{}</dd></div>\n",
        html(&fact.label),
        html(&fact.value),
        html(&fact.explanation)
    )
}

pub(super) fn figures(figures: &[Figure]) -> String {
    let drawings: String = figures.iter().map(drawing).collect();
    unless_empty(figures, &format!("<section class=\"figures\">\n{drawings}</section>\n"))
}

fn drawing(figure: &Figure) -> String {
    let title = html(&figure.title);
    format!(
        "<figure class=\"card\">\n<h2>{title}</h2>\n<div class=\"drawing\">{}</div>\n\
         <figcaption>{}</figcaption>\n</figure>\n",
        figure.svg,
        html(&figure.caption)
    )
}

pub(super) fn table(table: &TableView) -> String {
    let numeric: Vec<bool> =
        (0..table.header.len()).map(|column| is_numeric(table, column)).collect();
    let class = |column: usize| match numeric.get(column) {
        Some(true) => " class=\"number\"",
        _ => "",
    };
    let header: String = (table.header.iter().enumerate())
        .map(|(column, text)| format!("<th scope=\"col\"{}>{}</th>", class(column), html(text)))
        .collect();
    let row = |cells: &Vec<String>| {
        let cells: String = (cells.iter().enumerate())
            .map(|(column, text)| format!("<td{}>{}</td>", class(column), html(text)))
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let title = html(&table.title);
    format!(
        "<section class=\"card table\">\n<h2>{title}</h2>\n<p class=\"muted\">{}</p>\n\
         <div class=\"sideways\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\">\n\
         <table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n</section>\n",
        html(&table.caption),
        table.rows.iter().map(row).collect::<String>()
    )
}

/// Whether to align a column by its digits: every cell starts like a number or is a dash.
fn is_numeric(table: &TableView, column: usize) -> bool {
    let looks_numeric = |cell: &str| {
        let unsigned = cell.trim_start_matches(['-', '−', '+', '<', '≤', '±', ' ']);
        unsigned.is_empty()
            || matches!(cell, "–" | "—")
            || unsigned.starts_with(|c: char| c.is_ascii_digit())
    };
    column > 0
        && table.rows.iter().all(|row| row.get(column).is_none_or(|cell| looks_numeric(cell)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_told_from_columns_of_words() {
        let row = |cells: [&str; 4]| cells.map(String::from).to_vec();
        let view = TableView {
            header: row(["learner", "F1", "change", "note"]),
            rows: vec![
                row(["3 nearest", "0.84", "−0.1", "2 days"]),
                row(["5 nearest", "–", "+3 %", "good"]),
            ],
            ..TableView::default()
        };
        let numeric: Vec<bool> = (0..4).map(|column| is_numeric(&view, column)).collect();
        assert_eq!(numeric, [false, true, true, false]);
    }

    #[test]
    fn one_warning_is_one_thing() {
        assert!(warnings(&["a".into()]).contains("One thing"));
        assert!(warnings(&["a".into(), "b".into()]).contains("Things"));
        assert_eq!(warnings(&[]), "");
    }
}
