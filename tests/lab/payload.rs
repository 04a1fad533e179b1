//! What CloudStack keeps in `async_job`: work jobs as Java serialises them, API jobs as JSON.
//!
//! It must never share code with the scanner's decoder: the vectors in `lab_replay.rs` hold both to Java's own bytes.

use serde_json::json;

/// A detach work job's `job_cmd_info`.
pub fn detach(user: u64, account: u64, vm: u64, volume: Option<u64>) -> String {
    let mut out = Stream::new(
        "com.cloud.vm.VmWorkDetachVolume",
        0x86f4_5e03_eb3c_d403,
        &["volumeId"],
    );
    out.work(user, account, vm);
    out.long(volume);
    base64(&out.bytes)
}

/// An attach work job's `job_cmd_info`.
pub fn attach(user: u64, account: u64, vm: u64, volume: u64, device: Option<u64>) -> String {
    let mut out = Stream::new(
        "com.cloud.vm.VmWorkAttachVolume",
        0x07ad_aff9_6187_e21c,
        &["deviceId", "volumeId"],
    );
    out.work(user, account, vm);
    out.long(device);
    if device == Some(volume) && volume < 128 {
        out.bytes.extend([0x71, 0x00, 0x7e, 0x00, 0x08]);
    } else {
        out.long(Some(volume));
    }
    base64(&out.bytes)
}

/// A successful work job's `job_result`: the volume's id.
pub fn result(volume: u64) -> String {
    let mut out = Stream {
        bytes: vec![0xac, 0xed, 0x00, 0x05],
        long_class: false,
    };
    out.long(Some(volume));
    base64(&out.bytes)
}

/// An API job's `job_cmd_info`, with key and signature as CloudStack keeps them.
pub fn api(volume: &str, vm: Option<&str>, start_event: u64, event: &str, command: &str) -> String {
    let details = json!({ "interface com.cloud.storage.Volume": volume }).to_string();
    let mut info = json!({
        "id": volume, "response": "json", "command": command, "apiKey": "LAB-API-KEY-DO-NOT-PRINT", "signature": "LAB-SIGNATURE-DO-NOT-PRINT=",
        "signatureversion": "3", "expires": "2026-09-08T15:00:00+0000", "httpmethod": "GET", "ctxUserId": "2", "ctxAccountId": "2",
        "ctxStartEventId": start_event.to_string(), "ctxDetails": details, "cmdEventType": event, "uuid": volume,
    });
    if let (Some(vm), Some(map)) = (vm, info.as_object_mut()) {
        map.insert("virtualmachineid".to_owned(), json!(vm));
    }
    info.to_string()
}

/// A failed job's `job_result`.
pub fn failure(code: u32, text: &str) -> String {
    let inner = json!({ "uuidList": [], "errorcode": code, "errortext": text });
    format!("org.apache.cloudstack.api.response.ExceptionResponse/null/{inner}")
}

/// A failed work job's `job_result`: an exception as Java serialises it, so that no words of it can be searched for. Its shape only.
pub fn thrown(text: &str) -> String {
    let mut out = Stream {
        bytes: vec![0xac, 0xed, 0x00, 0x05, 0x73],
        long_class: false,
    };
    out.class(
        "com.cloud.utils.exception.CloudRuntimeException",
        0x0a5b_0a5b_0a5b_0a5b,
        0,
    );
    out.bytes.extend([0x78, 0x70, 0x74]);
    out.text(text);
    base64(&out.bytes)
}

struct Stream {
    bytes: Vec<u8>,
    long_class: bool,
}

impl Stream {
    fn new(class: &str, version: u64, longs: &[&str]) -> Self {
        let mut out = Self {
            bytes: vec![0xac, 0xed, 0x00, 0x05, 0x73],
            long_class: false,
        };
        out.class(class, version, longs.len());
        for (at, name) in longs.iter().enumerate() {
            out.bytes.push(b'L');
            out.text(name);
            if at == 0 {
                out.bytes.push(0x74);
                out.text("Ljava/lang/Long;");
            } else {
                out.bytes.extend([0x71, 0x00, 0x7e, 0x00, 0x01]);
            }
        }
        out.bytes.push(0x78);
        out
    }

    fn class(&mut self, name: &str, version: u64, fields: usize) {
        self.bytes.push(0x72);
        self.text(name);
        self.bytes.extend(version.to_be_bytes());
        self.bytes
            .extend([0x02, 0x00, u8::try_from(fields).unwrap_or_default()]);
    }

    fn work(&mut self, user: u64, account: u64, vm: u64) {
        self.class("com.cloud.vm.VmWork", 0x9f99_b656_f025_676b, 4);
        for name in ["accountId", "userId", "vmId"] {
            self.bytes.push(b'J');
            self.text(name);
        }
        self.bytes.push(b'L');
        self.text("handlerName");
        self.bytes.push(0x74);
        self.text("Ljava/lang/String;");
        self.bytes.extend([0x78, 0x70]);
        for value in [account, user, vm] {
            self.bytes.extend(value.to_be_bytes());
        }
        self.bytes.push(0x74);
        self.text("VolumeApiServiceImpl");
    }

    fn long(&mut self, value: Option<u64>) {
        let Some(value) = value else {
            self.bytes.push(0x70);
            return;
        };
        self.bytes.push(0x73);
        if self.long_class {
            self.bytes.extend([0x71, 0x00, 0x7e, 0x00, 0x06]);
        } else {
            self.long_class = true;
            self.class("java.lang.Long", 0x3b8b_e490_cc8f_23df, 1);
            self.bytes.push(b'J');
            self.text("value");
            self.bytes.push(0x78);
            self.class("java.lang.Number", 0x86ac_951d_0b94_e08b, 0);
            self.bytes.extend([0x78, 0x70]);
        }
        self.bytes.extend(value.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes
            .extend(u16::try_from(text.len()).unwrap_or_default().to_be_bytes());
        self.bytes.extend(text.as_bytes());
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_usize, |w, b| w << 8 | usize::from(*b)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            out.push(char::from(DIGITS[word >> (18 - 6 * at) & 63]));
        }
    }
    out
}
