//! What a configuration means, and what is said of a wrong one.

mod passwords;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use volrecon::config::{Config, ConfigError, DEFAULT_LIBVIRT_URI, Sources};
use volrecon::gather::{Secret, Tls};

struct Place {
    dir: TempDir,
    sources: Sources,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let sources = Sources {
            flag: None,
            env: BTreeMap::new(),
            files: vec![at("xdg.toml"), at("etc.toml")],
            properties: at("db.properties"),
        };
        Self { dir, sources }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(self, name: &str, text: &str) -> Self {
        self.file_with_mode(name, text, 0o600)
    }

    fn file_with_mode(self, name: &str, text: &str, mode: u32) -> Self {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.sources.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, name: &str) -> Self {
        self.sources.flag = Some(self.path(name));
        self
    }

    fn load(&self) -> Config {
        Config::load(&self.sources).unwrap()
    }

    fn error(&self) -> String {
        self.failure()
            .to_string()
            .replace(self.dir.path().to_str().unwrap(), "DIR")
    }

    fn failure(&self) -> ConfigError {
        match Config::load(&self.sources) {
            Err(error) => error,
            Ok(mut config) => match config.database() {
                Err(error) => error,
                Ok(_) => config.libvirt().unwrap_err(),
            },
        }
    }
}

fn password(secret: Option<&Secret>) -> Option<&str> {
    secret.map(Secret::reveal)
}

#[test]
fn nothing_written_and_no_management_server_is_no_database() {
    let place = Place::new();
    assert_eq!(place.error(), "no database is configured");
    assert!(!place.failure().hints().is_empty());
    let libvirt = place.load().libvirt().unwrap();
    assert_eq!(libvirt.uri, DEFAULT_LIBVIRT_URI);
    assert_eq!(
        (libvirt.parallel, libvirt.host_timeout),
        (32, Duration::from_secs(30))
    );
}

#[test]
fn on_a_management_server_nothing_need_be_written() {
    let place = Place::new().file(
        "db.properties",
        "db.cloud.host=10.0.0.5\ndb.cloud.port=3307\ndb.cloud.username=cloud\ndb.cloud.password=p=a\\:b\ndb.cloud.name=cloud\n",
    );
    let database = place.load().database().unwrap();
    assert_eq!((database.host.as_str(), database.port), ("10.0.0.5", 3307));
    assert_eq!(database.user, "cloud");
    assert_eq!(password(database.password.as_ref()), Some("p=a:b"));
    assert_eq!(database.tls, Tls::Prefer);
}

#[test]
fn an_encrypted_password_is_refused_and_the_way_out_is_told() {
    let place = Place::new().file("db.properties", "db.cloud.host=h\ndb.cloud.password=ENC(abc=)\n");
    assert_eq!(
        place.error(),
        "the password in DIR/db.properties is encrypted: ENC(...) cannot be read yet"
    );
    assert!(place.failure().hints()[0].contains("password_file"));
    // Another way to the password makes it usable.
    let place = place
        .file("pass", "geheim\n")
        .env("VOLRECON_DATABASE_PASSWORD_FILE", "unset");
    let pass = place.path("pass");
    let place = place.env("VOLRECON_DATABASE_PASSWORD_FILE", pass.to_str().unwrap());
    assert_eq!(
        password(place.load().database().unwrap().password.as_ref()),
        Some("geheim")
    );
}

#[test]
fn a_uri_in_the_properties_wins_over_the_host() {
    let text = "db.cloud.host=h\ndb.cloud.uri=jdbc:mysql://other:3310/cloud4?serverTimezone=UTC\n";
    let database = Place::new()
        .file("db.properties", text)
        .load()
        .database()
        .unwrap();
    assert_eq!(
        (database.host.as_str(), database.port, database.schema.as_str()),
        ("other", 3310, "cloud4")
    );
    let text = "db.cloud.uri=jdbc:mysql:loadbalance://a,b/cloud\n";
    assert!(
        Place::new()
            .file("db.properties", text)
            .error()
            .starts_with("db.cloud.uri: only jdbc:mysql")
    );
}

#[test]
fn variables_win_over_the_flags_file_which_wins_over_the_others() {
    let place = Place::new()
        .file(
            "etc.toml",
            "[database]\nurl = \"mysql://etc/cloud\"\n[libvirt]\nparallel = 3\n",
        )
        .file("db.properties", "db.cloud.host=properties\n");
    assert_eq!(place.load().database().unwrap().host, "etc");
    let place = place.file("xdg.toml", "[database]\nurl = \"mysql://xdg/cloud\"\n");
    assert_eq!(place.load().database().unwrap().host, "xdg");
    assert_eq!(
        place.load().libvirt().unwrap().parallel,
        32,
        "files are alternatives, not layers"
    );
    let place = place
        .file(
            "flag.toml",
            "[database]\nurl = \"mysql://flag/cloud\"\ntls = \"off\"\n",
        )
        .flag("flag.toml");
    assert_eq!(place.load().database().unwrap().host, "flag");
    let place = place
        .env("VOLRECON_DATABASE_URL", "mysql://env/cloud")
        .env("VOLRECON_LIBVIRT_PARALLEL", "7");
    let mut config = place.load();
    let database = config.database().unwrap();
    assert_eq!((database.host.as_str(), database.tls), ("env", Tls::Off));
    assert_eq!(config.libvirt().unwrap().parallel, 7);
    assert_eq!(
        config.origin("database", "url").unwrap().to_string(),
        "VOLRECON_DATABASE_URL"
    );
    assert_eq!(
        config.origin("database", "tls").unwrap().to_string(),
        place.path("flag.toml").display().to_string()
    );
}

#[test]
fn the_file_of_the_flag_must_be_there() {
    let place = Place::new().file("etc.toml", "").flag("none.toml");
    assert_eq!(place.error(), "cannot read the configuration DIR/none.toml");
}

#[test]
fn all_of_the_contract_is_accepted() {
    let text = r#"
[database]
url = "mysql://volrecon@127.0.0.1:3306/cloud"
tls = "verify"
ca = "/etc/ssl/ca.pem"
single_writer = false
[database.write]
url = "mysql://volrecon-fix@127.0.0.1:3306/cloud"
password_file = "/etc/volrecon/fix.pass"
[libvirt]
uri = "qemu+tls://{name}/system"
write_uri = "qemu+ssh://root@{ip}/system"
parallel = 8
host_timeout = "1m"
skip = ["kvm9"]
[libvirt.hosts]
"kvm1" = "qemu+tcp://127.0.0.1:16509/system"
[scan]
ignore = ["vr-0123abcd"]
[cloudstack]
url = "http://127.0.0.1:8080/client/api"
api_key = "geheim"
secret_key_file = "/etc/volrecon/secret.key"
[[drain]]
account = "k8s-prod"
check = ["kubectl", "get", "node", "{vm_name}"]
command = ["kubectl", "drain", "--", "{vm_name}"]
undrain = ["kubectl", "uncordon", "--", "{vm_name}"]
timeout = "10m"
[[drain]]
vm_uuid = ["7d6c5b4a-1111-4222-8333-000000000047"]
[journal]
path = "/var/lib/volrecon/journal.jsonl"
"#;
    let mut config = Place::new().file("etc.toml", text).load();
    let database = config.database().unwrap();
    assert_eq!(
        (database.tls, database.ca.as_deref()),
        (Tls::Verify, Some(Path::new("/etc/ssl/ca.pem")))
    );
    let libvirt = config.libvirt().unwrap();
    assert_eq!(libvirt.hosts["kvm1"], "qemu+tcp://127.0.0.1:16509/system");
    assert_eq!(
        (libvirt.host_timeout, libvirt.skip),
        (Duration::from_secs(60), vec!["kvm9".to_owned()])
    );
    assert_eq!(config.scan().ignore, ["vr-0123abcd"]);
    assert_eq!(config.drain().len(), 2);
    assert!(config.database_section().write.is_some());
    assert!(config.journal().path.is_some());
    assert!(!format!("{config:?}").contains("geheim"));
}

#[test]
fn an_unknown_key_is_named_with_its_file_and_the_near_one() {
    for (text, message, near) in [
        (
            "[databse]\n",
            "unknown key [databse] in DIR/etc.toml",
            Some("[database]"),
        ),
        (
            "[database]\nur1 = \"x\"\n",
            "unknown key database.ur1 in DIR/etc.toml",
            Some("database.url"),
        ),
        (
            "[database.write]\npasword_file = \"x\"\n",
            "unknown key database.write.pasword_file in DIR/etc.toml",
            Some("database.write.password_file"),
        ),
        (
            "[libvirt]\nignore = []\n",
            "unknown key libvirt.ignore in DIR/etc.toml",
            Some("scan.ignore"),
        ),
        (
            "[[drain]]\nacount = \"x\"\n",
            "unknown key drain.acount in DIR/etc.toml",
            Some("drain.account"),
        ),
        (
            "[scan]\nzzzzzz = 1\n",
            "unknown key scan.zzzzzz in DIR/etc.toml",
            None,
        ),
    ] {
        let place = Place::new().file("etc.toml", text);
        assert_eq!(place.error(), message);
        let hints = place.failure().hints();
        assert_eq!(
            hints
                .first()
                .map(|h| h.trim_start_matches("a similar key exists: ")),
            near
        );
    }
}

#[test]
fn a_wrong_value_is_told_with_its_place() {
    for (text, message) in [
        ("x = \n[", "the configuration DIR/etc.toml is no TOML: line 1: "),
        (
            "[libvirt]\nparallel = \"many\"\n",
            "a value in DIR/etc.toml is of the wrong kind: ",
        ),
        (
            "[database]\nurl = \"mysql://h\"\ntls = \"on\"\n",
            "database.tls: this must be off, prefer or verify, in DIR/etc.toml",
        ),
        (
            "[database]\nurl = \"oracle://h\"\n",
            "database.url: it must begin with mysql://, in DIR/etc.toml",
        ),
        (
            "[database]\nurl = \"mysql://h\"\n[libvirt]\nparallel = 0\n",
            "libvirt.parallel: this must be 1 or more, in DIR/etc.toml",
        ),
        (
            "[database]\nurl = \"mysql://h\"\n[libvirt]\nhost_timeout = \"30\"\n",
            "libvirt.host_timeout: a unit is missing: is it 30s, 30m or 30h?, in DIR/etc.toml",
        ),
        (
            "[database]\nurl = \"mysql://h\"\n[libvirt]\nuri = \"qemu+ssh://{host}/system\"\n",
            "libvirt.uri: there is no {host}: ",
        ),
    ] {
        let error = Place::new().file("etc.toml", text).error();
        assert!(error.starts_with(message), "{error}");
    }
    let error = Place::new().env("VOLRECON_LIBVIRT_PARALLEL", "many").error();
    assert_eq!(error, "parallel: this is no number, in VOLRECON_LIBVIRT_PARALLEL");
}

#[test]
fn what_to_ignore_must_be_ids_of_findings() {
    let ignored = |words: &str| {
        let place = Place::new().file("etc.toml", &format!("[scan]\nignore = [{words}]\n"));
        place.load().ignored().map_err(|error| {
            let told = error.to_string();
            told.replace(&place.dir.path().display().to_string(), "DIR")
        })
    };
    let same = ["vr-00000000".to_owned(), "vr-0123abcd".to_owned()];
    assert_eq!(ignored("\"vr-0123abcd\", \"VR-00000000\"").unwrap(), same.into());
    assert!(ignored("").unwrap().is_empty());
    for word in ["vr-0123abc", "vr-0123abcg", "0123abcd", "vr-0123abcd0", ""] {
        let wanted = format!(
            "scan.ignore: {word:?} is no finding's id, which is vr- and 8 hex digits, in DIR/etc.toml"
        );
        assert_eq!(ignored(&format!("\"vr-0123abcd\", {word:?}")), Err(wanted));
    }
}

#[test]
fn an_unknown_variable_warns() {
    let config = Place::new().env("VOLRECON_DATABSE_URL", "mysql://h").load();
    assert_eq!(
        config.warnings,
        ["the variable VOLRECON_DATABSE_URL sets nothing; a similar one is VOLRECON_DATABASE_URL"]
    );
}
