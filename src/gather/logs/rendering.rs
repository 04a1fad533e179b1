//! How CloudStack writes its objects into a log. From 4.20 most are JSON after a word or two: `Volume {"id":4,…}`; jobs
//! of older releases are `AsyncJobVO: {id:4, userId: 2, …}`. JSON is parsed: names in it cannot break out.

use super::line::number;
use super::text::class;
use super::wanted::WantedVolume;
use crate::gather::payload;
use crate::model::{JobId, VmId, VmTold, VolumeId};
use serde_json::Value;

/// The JSON value that a text begins with, and what follows.
pub(super) fn json(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

/// An object, with a word or two before it or none.
pub(super) fn object(text: &str) -> Option<(Value, &str)> {
    let brace = text.find('{')?;
    let plain = brace <= 40
        && text[..brace]
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b' ');
    let (value, rest) = plain.then(|| json(&text[brace..])).flatten()?;
    value.is_object().then_some((value, rest))
}

fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?;
    (!text.is_empty() && text.len() <= 1024).then(|| text.to_owned())
}

/// A number, or a text that is one.
pub(super) fn id(value: &Value, key: &str) -> Option<u64> {
    let value = value.get(key)?;
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A volume's rendering: `Volume {…}`, `VolumeObject {"volumeVO":"Volume {…}"}`, `VolumeObjectTO`'s fields.
pub(super) fn volume(value: &Value) -> WantedVolume {
    if let Some(Value::String(inner)) = value.get("volumeVO")
        && let Some((inner, _)) = object(inner)
        && inner.get("volumeVO").is_none()
    {
        return volume(&inner);
    }
    WantedVolume {
        id: id(value, "id").map(VolumeId),
        uuid: text(value, "uuid"),
        paths: text(value, "path").into_iter().collect(),
        name: None,
    }
}

/// A VM's rendering.
pub(super) fn vm(value: &Value) -> VmTold {
    VmTold {
        id: id(value, "id").map(VmId),
        instance: text(value, "instanceName"),
        uuid: text(value, "uuid"),
    }
}

/// A job's rendering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobTold {
    pub id: Option<JobId>,
    /// It is a work job.
    pub work: bool,
    /// The class, last part.
    pub command: String,
    pub uuid: Option<String>,
    pub volume: WantedVolume,
    pub vm: Option<VmTold>,
}

/// `AsyncJob {…}` or `AsyncJobVO: {…}`.
pub(super) fn job(rendering: &str) -> Option<JobTold> {
    if rendering.starts_with("AsyncJobVO") {
        return old_job(rendering);
    }
    let (value, _) = rendering
        .starts_with("AsyncJob ")
        .then(|| object(rendering))
        .flatten()?;
    let mut told = JobTold {
        id: id(&value, "id").map(JobId),
        uuid: text(&value, "uuid"),
        ..JobTold::default()
    };
    told.command(value.get("cmd")?.as_str()?)?;
    if value.get("instanceType").and_then(Value::as_str) == Some("Volume") {
        told.volume.id = id(&value, "instanceId").map(VolumeId);
    }
    told.info(value.get("cmdInfo").and_then(Value::as_str).unwrap_or_default());
    Some(told)
}

/// `AsyncJobVO: {id:118, userId: 2, accountId: 2, instanceType: null, instanceId: null, cmd: …, cmdInfo: …, cmdVersion:
/// …}`. What a client wrote stands in `cmdInfo`, and all that is read by its name stands before it.
fn old_job(rendering: &str) -> Option<JobTold> {
    let (before, info) = rendering.split_once(", cmdInfo: ")?;
    let (_, fields) = before.split_once('{')?;
    let field = |key: &str| {
        fields
            .split(", ")
            .find_map(|field| field.strip_prefix(key)?.strip_prefix(':'))
            .map(str::trim)
    };
    let mut told = JobTold {
        id: field("id").and_then(|id| id.parse().ok()).map(JobId),
        ..JobTold::default()
    };
    told.command(field("cmd")?)?;
    if field("instanceType") == Some("Volume") {
        told.volume.id = field("instanceId").and_then(|id| id.parse().ok()).map(VolumeId);
    }
    told.info(info);
    Some(told)
}

impl JobTold {
    fn command(&mut self, name: &str) -> Option<()> {
        class(name)?.clone_into(&mut self.command);
        self.work = self.command.starts_with("VmWork");
        Some(())
    }

    /// The parameters: a work job's are serialised, an API job's are JSON.
    fn info(&mut self, info: &str) {
        if self.work {
            let end = info.find([',', ' ', '}']).unwrap_or(info.len());
            let payload = payload::decode(&info[..end]);
            self.vm = payload.vm.map(|id| VmTold::row(VmId(id)));
            self.volume.id = payload.volume.map(VolumeId);
            return;
        }
        let Some((info, _)) = json(info) else { return };
        let context = info.get("ctxDetails").and_then(Value::as_str).and_then(json);
        let context = context.map(|(value, _)| value).unwrap_or_default();
        self.volume.uuid = text(&context, "interface com.cloud.storage.Volume").or_else(|| {
            let of_volume = self.command.contains("Volume");
            of_volume
                .then(|| text(&info, "id").or_else(|| text(&info, "volumeid")))
                .flatten()
        });
        let vm = text(&context, "interface com.cloud.vm.VirtualMachine")
            .or_else(|| text(&info, "virtualmachineid"));
        self.vm = vm.map(|uuid| VmTold {
            uuid: Some(uuid),
            ..VmTold::default()
        });
    }
}

/// `job-` and its number, and what follows.
pub(super) fn job_number(text: &str) -> Option<(JobId, &str)> {
    let (id, rest) = number(text.strip_prefix("job-").or_else(|| text.strip_prefix("Job-"))?)?;
    Some((JobId(id), rest))
}

/// A command to an agent, or its answer, in `… { Cmd , … [{"class":{…}}] }`: class's last part, and the object.
pub(super) fn commands(message: &str) -> Vec<(String, Value)> {
    let Some((_, array)) = message.find("[{").and_then(|at| message.split_at_checked(at)) else {
        return Vec::new();
    };
    let Some((Value::Array(all), _)) = json(array) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for value in all {
        let Value::Object(fields) = value else { continue };
        for (name, value) in fields {
            out.extend(class(&name).map(|class| (class.to_owned(), value)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_parsed_and_names_cannot_break_out() {
        let (value, rest) =
            object(r#"Volume {"name":"x\"} to VM {\"id\":9","uuid":"u","id":4}] to"#).unwrap();
        assert_eq!(volume(&value).id, Some(VolumeId(4)));
        assert_eq!(rest, "] to");
        let (nested, _) = object(r#"VolumeObject {"dataStore":"S {\"id\":2}","volumeVO":"Volume {\"id\":4274,\"uuid\":\"d4a8\"}"}"#).unwrap();
        assert_eq!(volume(&nested).uuid.as_deref(), Some("d4a8"));
        assert!(object("Volume [x] {}").is_none());
        assert!(object("{").is_none());
        assert!(object(&"{\"a\":".repeat(10_000)).is_none());
    }

    #[test]
    fn an_api_job_of_the_newer_form_in_any_order() {
        let told = job(r#"AsyncJob {"uuid":"9fdf554d-210a","instanceType":"Volume","cmdInfo":"{\"apiKey\":\"k\",\"id\":\"b861\",\"virtualmachineid\":\"v1\"}","id":58,"instanceId":4,"cmd":"org.apache.cloudstack.api.command.admin.volume.AttachVolumeCmdByAdmin"}"#).unwrap();
        assert_eq!(
            (told.id, told.work, told.command.as_str()),
            (Some(JobId(58)), false, "AttachVolumeCmdByAdmin")
        );
        assert_eq!(told.uuid.as_deref(), Some("9fdf554d-210a"));
        assert_eq!(
            (told.volume.id, told.volume.uuid.as_deref()),
            (Some(VolumeId(4)), Some("b861"))
        );
        assert_eq!(told.vm.unwrap().uuid.as_deref(), Some("v1"));
    }

    #[test]
    fn a_work_job_of_the_older_form_by_its_payload() {
        let told = job("AsyncJobVO: {id:118, userId: 2, accountId: 2, instanceType: null, instanceId: null, cmd: com.cloud.vm.VmWorkDetachVolume, cmdInfo: rO0ABXNyAB9jb20uY2xvdWQudm0uVm1Xb3JrRGV0YWNoVm9sdW1lhvReA-s81AMCAAFMAAh2b2x1bWVJZHQAEExqYXZhL2xhbmcvTG9uZzt4cgATY29tLmNsb3VkLnZtLlZtV29ya5-ZtlbwJWdrAgAESgAJYWNjb3VudElkSgAGdXNlcklkSgAEdm1JZEwAC2hhbmRsZXJOYW1ldAASTGphdmEvbGFuZy9TdHJpbmc7eHAAAAAAAAAAAwAAAAAAAAACAAAAAAAAACl0ABRWb2x1bWVBcGlTZXJ2aWNlSW1wbHNyAA5qYXZhLmxhbmcuTG9uZzuL5JDMjyPfAgABSgAFdmFsdWV4cgAQamF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHAAAAAAAAAE0g, cmdVersion: 0, status: IN_PROGRESS}").unwrap();
        assert_eq!(
            (told.id, told.work, told.command.as_str()),
            (Some(JobId(118)), true, "VmWorkDetachVolume")
        );
        assert_eq!(
            (told.vm, told.volume.id),
            (Some(VmTold::row(VmId(41))), Some(VolumeId(1234)))
        );
    }

    #[test]
    fn an_api_job_of_the_older_form_is_not_misled_by_its_parameters() {
        let told = job(r#"AsyncJobVO: {id:5, userId: 2, accountId: 2, instanceType: Volume, instanceId: 4, cmd: a.DetachVolumeCmd, cmdInfo: {"id":"b861","name":", cmd: x.Evil, id:9, instanceId: 7"}, cmdVersion: 0"#).unwrap();
        assert_eq!(
            (told.id, told.command.as_str()),
            (Some(JobId(5)), "DetachVolumeCmd")
        );
        assert_eq!(
            (told.volume.id, told.volume.uuid.as_deref()),
            (Some(VolumeId(4)), Some("b861"))
        );
    }

    #[test]
    fn commands_and_answers() {
        let sent = commands(
            r#"Seq 3-1: Sending  { Cmd , MgmtId: 3, via: 3(s), Ver: v1, Flags: 1, [{"org.apache.cloudstack.storage.command.DettachCommand":{"vmName":"i-2-41-VM","disk":{"diskSeq":"2"}}}] }"#,
        );
        assert_eq!(sent[0].0, "DettachCommand");
        assert!(commands("[{\"a\": nonsense").is_empty());
        assert!(commands("").is_empty());
    }
}
