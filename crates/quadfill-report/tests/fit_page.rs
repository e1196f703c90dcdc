//! The page about a fit: which sections it has, and what they say.

mod common;

use common::{along_the_path, fitted, raced};
use quadfill_report::chart::Chart;
use quadfill_report::{Block, Page, Section};

fn section<'a>(page: &'a Page, heading: &str) -> &'a Section {
    page.sections.iter().find(|section| section.heading == heading).expect(heading)
}

/// The rows of the one table of a section.
fn rows(section: &Section) -> &[Vec<String>] {
    let mut tables = section.blocks.iter().filter_map(|block| match block {
        Block::Table { rows, .. } => Some(rows),
        _ => None,
    });
    tables.next().expect("a table")
}

/// The paragraphs of a section.
fn text(section: &Section) -> String {
    let words = section.blocks.iter().filter_map(|block| match block {
        Block::Text(words) => Some(words.as_str()),
        _ => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_fit_along_the_path_has_all_its_charts() {
    let (page, _) = fitted(&along_the_path(), false);
    let names: Vec<&str> = page.charts().map(|(name, _)| name).collect();
    let expected =
        ["coverage", "path", "convergence", "calibration", "residuals", "columns", "norms"];
    assert_eq!(names, expected);
    let html = page.html();
    for words in ["Certificate", "chosen on held-out data", "effective rank", "The verdict"] {
        assert!(html.contains(words), "{words}");
    }
    // Nothing is fetched; the one address is the name of the SVG language.
    let outside = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
}

#[test]
fn a_race_is_told_with_all_its_heats() {
    let (page, model) = fitted(&raced(), true);
    let race = model.summary().race.as_ref().expect("the fit raced models");
    let choice = section(&page, "Choice");
    assert!(text(choice).contains(&race.winner().contender.to_string()));
    assert_eq!(text(choice).matches(". ").count(), 1, "two sentences: {}", text(choice));
    let rows = rows(choice);
    assert_eq!(rows.len(), race.heats.len());
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row[1], race.heats[at].contender.to_string());
        assert_eq!(row[4] == "chosen", at == race.chosen);
    }
    let (_, Chart::Lines(chart)) =
        page.charts().find(|(name, _)| *name == "choice").expect("choice")
    else {
        panic!("a chart of points");
    };
    let points = chart.series.iter().map(|series| series.points.len()).sum::<usize>();
    assert_eq!(points, race.heats.len());
    let summary = section(&page, "Summary");
    let Block::Facts(facts) = &summary.blocks[0] else { panic!("facts first") };
    let (_, words) = facts.iter().find(|(name, _)| name == "held-out rmse").expect("a fact");
    for part in ["mean ", "biases ", "this model ", " ± "] {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn heats_are_left_out_of_the_convergence() {
    let (page, _) = fitted(&raced(), false);
    let (_, Chart::Lines(chart)) =
        page.charts().find(|(name, _)| *name == "convergence").expect("convergence")
    else {
        panic!("a chart of lines");
    };
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert!(names.contains(&"sampling") && !names.iter().any(|name| name.contains("heat")));
    assert!(chart.series.iter().flat_map(|series| &series.points).all(|point| point.y > 0.0));
}

#[test]
fn intervals_are_judged_on_test_data_where_there_are_any() {
    for config in [along_the_path(), raced()] {
        for with_test in [true, false] {
            let (page, _) = fitted(&config, with_test);
            let words = text(section(&page, "Intervals"));
            let cells = if with_test { "test cells" } else { "training cells" };
            assert!(
                words.contains("Intervals of 90 % contain") && words.contains(cells),
                "{words}"
            );
            let (_, Chart::Lines(chart)) =
                page.charts().find(|(name, _)| *name == "calibration").expect("calibration")
            else {
                panic!("a chart of lines");
            };
            let shares: Vec<f64> = chart.series[1].points.iter().map(|point| point.y).collect();
            assert_eq!(shares.len(), 6);
            assert!(shares.is_sorted() && shares[0] > 25.0 && shares[5] > 80.0, "{shares:?}");
        }
    }
}

#[test]
fn every_mode_has_its_worst_labels() {
    let (page, _) = fitted(&along_the_path(), false);
    let rows = rows(section(&page, "Residuals"));
    for mode in ["mode1", "mode2", "mode3"] {
        let of_mode: Vec<&Vec<String>> = rows.iter().filter(|row| row[0] == mode).collect();
        assert_eq!(of_mode.len(), 5);
        let errors: Vec<f64> =
            of_mode.iter().map(|row| row[3].parse().expect("a number")).collect();
        assert!(errors.is_sorted_by(|x, y| x >= y), "{errors:?}");
        assert!(of_mode.iter().all(|row| row[2].parse::<usize>().expect("a count") >= 5));
    }
}
