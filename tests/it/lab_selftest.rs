//! The lab stands on its own feet: tables, payloads, accounts, hosts, guests.

use anyhow::{Context, Result, ensure};

use crate::lab::domxml::{Domain, Pool, Source, target};
use crate::lab::real::{Real, Storage};
use crate::lab::rows::{Cloud, Row};
use crate::lab::testhost::Paper;
use crate::lab::world::{Hands, live_disks};
use crate::lab::{Shape, base, payload, shared, turn, when};

#[test]
fn both_shapes_of_the_schema_load_and_differ_where_they_should() -> Result<()> {
    let maria = &base()?.maria;
    for (name, shape, late) in [("self_415", Shape::V4_15, 0_u64), ("self_422", Shape::V4_22, 1)] {
        let db = maria.schema(name, shape)?;
        let mut cloud = Cloud::new(&db, 3)?;
        let pool = cloud.add(Row::pool(1, "RBD", "cloudstack"))?;
        cloud.add_vm(Row::vm(41, "web", 1))?;
        let volume = cloud.add(Row::volume(1234, "ångström 💾", pool).attached(41, 1))?;
        ensure!(volume == 1234, "the id was given");
        for (table, column) in [
            ("volumes", "last_id"),
            ("event", "resource_id"),
            ("vm_instance_details", "name"),
            ("reconcile_commands", "id"),
        ] {
            let sql = "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = ? AND table_name = ? AND column_name = ?";
            let there: u64 = cloud.one(sql, (name, table, column))?;
            ensure!(
                there == late,
                "{shape:?}: {table}.{column} is there {there} times"
            );
        }
    }
    Ok(())
}

#[test]
fn the_reader_may_read_its_schema_and_nothing_else() -> Result<()> {
    use mysql::prelude::Queryable;
    let maria = &base()?.maria;
    let db = maria.schema("self_reader", Shape::V4_22)?;
    maria.schema("self_other", Shape::V4_22)?;
    let opts = mysql::Opts::from_url(&db.url().replace('@', ":only-looks@"))?;
    let opts = mysql::OptsBuilder::from_opts(opts).prefer_socket(false);
    let (seen, log) = maria.general_log(|| -> Result<Option<u64>> {
        let mut conn = mysql::Conn::new(opts)?;
        let count = conn.query_first("SELECT COUNT(*) FROM volumes")?;
        ensure!(
            conn.query_drop("UPDATE volumes SET instance_id = NULL").is_err(),
            "it may write"
        );
        ensure!(
            conn.query_drop("SELECT 1 FROM self_other.volumes").is_err(),
            "it may read another schema"
        );
        Ok(count)
    })?;
    ensure!(
        seen? == Some(0) && log.contains("SELECT COUNT(*) FROM volumes"),
        "the log has every statement: {log}"
    );
    Ok(())
}

#[test]
fn work_jobs_are_serialised_as_java_does() -> Result<()> {
    let head = "rO0ABXNyAB9jb20uY2xvdWQudm0uVm1Xb3JrRGV0YWNoVm9sdW1lhvReA-s81AMCAAFMAAh2b2x1bWVJZHQAEExqYXZhL2xhbmcvTG9uZzt4cgATY29t\
                LmNsb3VkLnZtLlZtV29ya5-ZtlbwJWdrAgAESgAJYWNjb3VudElkSgAGdXNlcklkSgAEdm1JZEwAC2hhbmRsZXJOYW1ldAASTGphdmEvbGFuZy9TdHJpbmc7\
                eHAAAAAAAAAAAwAAAAAAAAACAAAAAAAAACl0ABRWb2x1bWVBcGlTZXJ2aWNlSW1wbHNyAA5qYXZhLmxhbmcuTG9uZzuL5JDMjyPfAgABSgAFdmFsdWV4cgAQ\
                amF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHAAAAAAAAAE0g";
    ensure!(
        payload::detach(2, 3, 41, Some(1234)) == head,
        "{}",
        payload::detach(2, 3, 41, Some(1234))
    );
    let result = "rO0ABXNyAA5qYXZhLmxhbmcuTG9uZzuL5JDMjyPfAgABSgAFdmFsdWV4cgAQamF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHAAAAAAAAAE0g";
    ensure!(payload::result(1234) == result, "{}", payload::result(1234));
    let [null, four, same] =
        [(1234, None), (1234, Some(4)), (4, Some(4))].map(|(v, d)| payload::attach(2, 3, 41, v, d).len());
    ensure!(
        four > null && same < four,
        "a device id is an object more, and the same number is told by reference"
    );
    Ok(())
}

#[test]
fn sources_of_every_pool_type_are_those_of_cloudstack() -> Result<()> {
    let pool = |kind: &str, path: &str| Pool {
        uuid: "610e0939-6665-3d4c-a000-000000000001".into(),
        kind: kind.into(),
        path: path.into(),
        host_address: "10.0.0.5".into(),
        port: 3260,
        user_info: None,
    };
    let cases = [
        ("RBD", "/cloudstack", "1f0a", "cloudstack/1f0a"),
        (
            "NetworkFilesystem",
            "/export",
            "abcd",
            "/mnt/610e0939-6665-3d4c-a000-000000000001/abcd",
        ),
        ("SharedMountPoint", "/shared", "abcd", "/shared/abcd"),
        (
            "Filesystem",
            "/var/lib/libvirt/images",
            "abcd",
            "/var/lib/libvirt/images/abcd",
        ),
        ("CLVM", "/vg_cs", "abcd-ef", "/dev/vg_cs/abcd-ef"),
        ("Gluster", "/gv0", "abcd", "gv0/abcd"),
        (
            "FiberChannel",
            "/",
            "type=FIBERWWN; address=6000d31000aa; connid.kvm1=3;",
            "/dev/mapper/36000d31000aa",
        ),
        (
            "NVMeTCP",
            "/",
            "type=NVMETCP; address=ABCD; connid.kvm1=1;",
            "/dev/disk/by-id/nvme-eui.abcd",
        ),
        (
            "Iscsi",
            "/",
            "/iqn.2010-01.com.solidfire:abc.vol.7/0",
            "/dev/disk/by-path/ip-10.0.0.5:3260-iscsi-iqn.2010-01.com.solidfire:abc.vol.7-lun-0",
        ),
        (
            "StorPool",
            "/",
            "/dev/storpool-byid/abc.b.1",
            "/dev/storpool-byid/abc.b.1",
        ),
        ("Linstor", "grp", "abcd", "/dev/drbd/by-res/cs-abcd/0"),
    ];
    for (kind, path, volume, source) in cases {
        let made = Source::of(&pool(kind, path), volume, None);
        ensure!(made.path() == source, "{kind}: {made:?}");
    }
    let targets = [0, 25, 26, 27, 51, 52, 701, 702].map(|d| target("vd", d));
    ensure!(
        targets == ["vda", "vdz", "vdaa", "vdab", "vdaz", "vdba", "vdzz", "vdaaa"],
        "{targets:?}"
    );
    Ok(())
}

#[test]
fn libvirts_test_driver_reads_a_host_on_paper() -> Result<()> {
    virt::error::clear_error_callback();
    let dir = base()?.session.path("self-paper");
    let paper = Paper::new(&dir, &["kvm1"])?;
    paper.boot(
        "kvm1",
        &Domain::new("i-2-41-VM", "00000029-1157-4000-8000-000000000029"),
    )?;
    let conn = virt::connect::Connect::open_read_only(Some(&paper.uri("kvm1")))?;
    ensure!(
        conn.lookup_domain_by_name("i-2-41-VM")?
            .xml_desc(0)?
            .contains("00000029-1157"),
        "its uuid is shown"
    );
    Ok(())
}

#[test]
fn a_story_can_be_moved_to_now_and_keeps_its_distances() -> Result<()> {
    let shift = when::Shift::to_now("2026-09-08 14:46:07", 0)?;
    let (a, b) = (
        shift.apply("2026-09-08 14:40:19")?,
        shift.apply("2026-09-08 14:42:40")?,
    );
    ensure!(when::plus(&a, 141)? == b, "{a} and {b}");
    ensure!(
        when::Shift::NONE.apply("2026-09-08 14:40:19")? == "2026-09-08 14:40:19",
        "no shift is no shift"
    );
    Ok(())
}

#[test]
fn a_guest_boots_answers_and_gives_up_a_disk_only_when_it_can() -> Result<()> {
    let (_turn, lab) = (turn(), shared()?);
    let real = Real::new(lab, Storage::SharedMountPoint);
    let pool = Pool {
        uuid: String::new(),
        kind: "SharedMountPoint".into(),
        path: lab.hosts.primary.display().to_string(),
        host_address: String::new(),
        port: 0,
        user_info: None,
    };
    let disk = |name: &str, device: u64| {
        crate::lab::domxml::Disk::new(Source::of(&pool, name, None), "qcow2", device, name)
    };
    for name in ["self-root", "self-data", "self-other"] {
        real.provision(&pool, name, "qcow2")?;
    }
    let domain =
        Domain::new("i-2-9901-VM", "000026ad-1157-4000-8000-0000000026ad").disk(&disk("self-root", 0));
    real.boot("kvm1", &domain)?;
    real.attach("kvm1", "i-2-9901-VM", &disk("self-data", 1))?;
    let (out, code) = real.exec("i-2-9901-VM", "sleep 1; ls /sys/block | grep -c ^vd")?;
    ensure!(
        code == 0 && out.trim().ends_with('2'),
        "the guest sees two disks: {out:?}"
    );
    let twin = real
        .attach("kvm1", "i-2-9901-VM", &disk("self-other", 1))
        .err()
        .context("libvirt took a target twice")?;
    ensure!(
        format!("{twin:#}").contains("target 'vdb' duplicated for disk sources"),
        "{twin:#}"
    );
    real.detach("kvm1", "i-2-9901-VM", "vdb")?;
    ensure!(
        live_disks(&real.xml("kvm1", "i-2-9901-VM")?)?.len() == 1,
        "it is gone"
    );
    Ok(())
}

#[test]
fn hosts_have_their_own_names_and_a_frozen_one_goes_on_afterwards() -> Result<()> {
    let (_turn, lab) = (turn(), shared()?);
    let names = lab
        .hosts
        .all
        .iter()
        .map(|h| h.virsh(&["hostname"]).map(|n| n.trim().to_owned()))
        .collect::<Result<Vec<_>>>()?;
    ensure!(names == ["kvm1", "kvm2", "kvm3"], "{names:?}");
    let host = lab.hosts.get("kvm2")?;
    drop(host.freeze()?);
    host.virsh(&["hostname"])?;
    let read_only = virt::connect::Connect::open_read_only(Some(&host.uri_ro()))?;
    ensure!(read_only.hostname()? == "kvm2", "the read-only socket answers");
    Ok(())
}
