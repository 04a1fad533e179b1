//! What the README shows is what volrecon does: its screen, its exit codes, its classes.

use super::golden;
use super::lab::occurrences::{self, Telling};
use super::lab::testhost::{self, Paper};
use super::lab::{Shape, base};
use super::scanning::volrecon;
use volrecon::classify::stories;
use volrecon::exit::Exit;

fn exits() -> String {
    let rows = Exit::ALL.map(|exit| format!("| {} | {} |\n", exit.code(), exit.meaning()));
    format!("| code | meaning |\n| ---: | --- |\n{}", rows.concat())
}

fn classes() -> String {
    let rows = stories().map(|story| {
        format!(
            "| `{}` | {} | {} |\n",
            story.class.name(),
            story.class.severity().name(),
            story.title
        )
    });
    format!(
        "| class | severity | in a line |\n| --- | --- | --- |\n{}",
        rows.concat()
    )
}

/// Occurrence 2, with the report's times, scanned: what a person sees.
fn screen() -> String {
    let base = base().expect("the lab's database");
    let db = base.maria.schema("readme", Shape::V4_22).expect("a schema");
    let dir = base.session.path("readme");
    let paper = Paper::new(&dir, &["kvm1", "kvm2", "kvm3"]).expect("hosts");
    occurrences::second(&db, &paper, Telling::AS_SHIPPED).expect("the story");
    let config = dir.join("volrecon.toml");
    testhost::config(&config, &db, &paper.uris()).expect("a configuration");
    let out = volrecon(&config, &["scan"]);
    let text = String::from_utf8(out.stdout).unwrap();
    format!("```console\n$ volrecon scan\n{}```\n", at_the_storys_time(&text))
}

/// The look's own time is the only thing that is not the story's: it becomes one soon after it.
fn at_the_storys_time(text: &str) -> String {
    let (before, last) = text.trim_end().rsplit_once('\n').expect("lines");
    let times = last
        .strip_prefix("rows and hosts read from ")
        .expect("the look's time");
    let (from, to) = times.split_once(" to ").expect("two times");
    for time in [from, to] {
        time.parse::<jiff::Timestamp>().expect("a time");
    }
    format!("{before}\nrows and hosts read from 2026-09-08T14:45:00Z to 2026-09-08T14:45:01Z\n")
}

#[test]
fn the_readme_is_true() {
    let path = "README.md";
    let mut text = std::fs::read_to_string(golden::repo(path)).unwrap();
    for (name, made) in [("screen", screen()), ("exits", exits()), ("classes", classes())] {
        let (begin, end) = (
            format!("<!-- {name}: made by make bless -->\n"),
            format!("<!-- /{name} -->"),
        );
        let (before, rest) = text
            .split_once(&begin)
            .unwrap_or_else(|| panic!("README has no place for {name}"));
        let (_, after) = rest
            .split_once(&end)
            .unwrap_or_else(|| panic!("README's {name} has no end"));
        text = format!("{before}{begin}{made}{end}{after}");
    }
    golden::check(path, &text);
}
