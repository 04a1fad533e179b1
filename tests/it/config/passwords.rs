//! Where a password comes from, and what is said where it cannot be had.

use super::{Place, password};

#[test]
fn passwords_from_file_command_and_url() {
    let url = |rest: &str| format!("[database]\nurl = \"mysql://u{rest}@h/cloud\"\n");
    let place = Place::new().file("pass", "geheim \n");
    let pass = place.path("pass").display().to_string();
    let file = format!("password_file = \"{pass}\"\n");
    let place = place.file("etc.toml", &(url("") + &file));
    let mut config = place.load();
    assert_eq!(
        password(config.database().unwrap().password.as_ref()),
        Some("geheim ")
    );
    assert!(config.warnings.is_empty());

    let command = "password_command = [\"printf\", \"%s\\\\nmore\\\\n\", \"$HOME;geheim\"]\n";
    let place = place.file("etc.toml", &(url("") + command));
    assert_eq!(
        password(place.load().database().unwrap().password.as_ref()),
        Some("$HOME;geheim")
    );

    let place = place.file("etc.toml", &url(":geheim"));
    let mut config = place.load();
    let database = config.database().unwrap();
    assert_eq!(password(database.password.as_ref()), Some("geheim"));
    assert!(config.warnings.is_empty());
    assert!(!format!("{database:?}").contains("geheim"));

    for both in [
        url(":geheim") + &file,
        url("") + &file + command,
        url(":geheim") + command,
    ] {
        let error = Place::new().file("etc.toml", &both).error();
        assert!(error.contains("as well") && !error.contains("geheim"), "{error}");
    }
}

#[test]
fn a_password_that_others_may_read_is_warned_about() {
    let place = Place::new().file_with_mode("etc.toml", "[database]\nurl = \"mysql://u:p@h/cloud\"\n", 0o644);
    let mut config = place.load();
    config.database().unwrap();
    assert_eq!(config.warnings.len(), 1);
    assert!(config.warnings[0].contains("chmod 600"));
}

#[test]
fn a_password_that_cannot_be_had_is_told() {
    let with = |line: &str| {
        let text = format!("[database]\nurl = \"mysql://u@h\"\n{line}\n");
        Place::new().file("etc.toml", &text).error()
    };
    assert_eq!(
        with("password_file = \"/nonexistent\""),
        "cannot read the password file /nonexistent"
    );
    assert_eq!(
        with("password_file = \"/dev/null\""),
        "the password of /dev/null is empty"
    );
    assert_eq!(
        with("password_command = [\"false\", \"geheim\"]"),
        "the password command false failed with exit status: 1"
    );
    assert_eq!(
        with("password_command = [\"/nonexistent\"]"),
        "cannot run the password command /nonexistent"
    );
    assert!(with("password_command = []").contains("the list is empty"));
}
