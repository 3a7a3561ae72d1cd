//! The review: a real server, asked over TCP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::folder::{Folder, Run};

/// A server that ends with the test.
pub(crate) struct Server {
    child: Option<Child>,
    host: String,
    token: String,
}

/// An answer.
struct Answer {
    code: u16,
    head: String,
    body: String,
}

impl Server {
    /// Starts the review of the folder's data with its model.
    fn start(folder: &Folder, further: &[&str]) -> Self {
        let usual = ["review", "data", "-m", "model.json", "--no-open"];
        Self::of(folder, &[&usual, further].concat())
    }

    pub(crate) fn of(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Some(rest) = line.trim().strip_prefix("http://") else {
            panic!("no address: {line}{}", Run::of(child.wait_with_output().unwrap()).err);
        };
        let (host, token) = rest.trim_end_matches('/').split_once('/').unwrap();
        Self { host: host.to_owned(), token: token.to_owned(), child: Some(child) }
    }

    /// Sends bytes as they are.
    fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // A server that refuses may close before all is sent.
        let _ = stream.write_all(request);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Answer { code, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn request(&self, first: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        let text = format!(
            "{first} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.send(text.as_bytes())
    }

    fn raw_get(&self, path: &str) -> Answer {
        let (host, token) = (&self.host, &self.token);
        self.request(&format!("GET /{token}/{path}"), &format!("Host: {host}\r\n"), "")
    }

    fn get(&self, path: &str) -> Value {
        let answer = self.raw_get(&format!("api/{path}"));
        assert_eq!(answer.code, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    fn raw_post(&self, path: &str, body: &Value) -> Answer {
        let (host, token) = (&self.host, &self.token);
        let headers =
            format!("Host: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n");
        self.request(&format!("POST /{token}/api/{path}"), &headers, &body.to_string())
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.raw_post(path, body);
        assert_eq!(answer.code, 200, "{path} {body}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    pub(crate) fn decide(&self, item: &str, action: &str, instance: Option<usize>) -> Value {
        self.post("decide", &json!({ "item": item, "action": action, "instance": instance }))
    }

    fn decision(&self, item: &str) -> Value {
        self.get(&format!("item/{item}"))["decision"].clone()
    }

    /// Ids of the queue, in this order.
    pub(crate) fn queue(&self, query: &str) -> Vec<String> {
        let found = self.get(&format!("queue?count=1000&{query}"));
        let items = found["items"].as_array().unwrap();
        assert_eq!(items.len(), found["total"].as_u64().unwrap() as usize);
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends it as a power cut would; returns what it had said.
    fn kill(mut self) -> String {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        Run::of(child.wait_with_output().unwrap()).err
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs a review that must end by itself; one that serves instead is ended and fails the test.
fn ended(folder: &Folder, arguments: &[&str]) -> Run {
    let mut command = folder.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            let run = Run::of(child.wait_with_output().unwrap());
            panic!("{arguments:?} did not end: {}{}", run.out, run.err);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Run::of(child.wait_with_output().unwrap())
}

/// The same for one that must be refused with this code, and leave nothing behind.
fn refused(folder: &Folder, code: i32, arguments: &[&str]) -> String {
    let before = folder.names();
    let run = ended(folder, arguments);
    assert_eq!(run.code, code, "{arguments:?}: {}{}", run.out, run.err);
    assert_eq!(folder.names(), before, "{arguments:?} left something behind");
    run.err
}

#[test]
fn what_was_answered_survives_a_crash() {
    let folder = Folder::with_model();
    let before = [folder.read("data/events.csv"), folder.read("data/instances.csv")];
    let server = Server::start(&folder, &["--reviewer", "Ada"]);
    let best = server.get("item/s0-0")["candidates"][0]["instance"].as_u64().unwrap();
    server.decide("s0-0", "accept", None);
    server.decide("s0-1", "move", Some(7));
    server.decide("s0-2", "reject", None);
    server.decide("s1-0", "add", Some(3));
    let told = server.decide("s1-1", "skip", None);
    assert_eq!(told["seq"], 6, "{told}");
    let progress = server.get("state")["progress"].clone();
    server.kill();
    // As a crash leaves it: the beginning of a line that nobody was told of.
    let whole = folder.read("review.jsonl");
    assert_eq!(whole.lines().count(), 6, "{whole}");
    folder.write("review.jsonl", &format!("{whole}{{\"seq\":7,\"when\":\"20"));
    let server = Server::start(&folder, &["--reviewer", "Ada"]);
    assert_eq!(server.decision("s0-0"), json!({ "action": "accept", "instance": best }));
    assert_eq!(server.decision("s0-1"), json!({ "action": "move", "instance": 7 }));
    assert_eq!(server.decision("s0-2"), json!({ "action": "reject", "instance": null }));
    assert_eq!(server.decision("m1-3"), json!({ "action": "add", "instance": 3 }));
    assert_eq!(server.decision("s0-3"), Value::Null);
    assert_eq!(server.get("state")["progress"]["left"], progress["left"]);
    assert_eq!(server.decide("s0-3", "accept", None)["seq"], 7);
    let said = server.kill();
    assert!(said.contains("the last line was not finished"), "{said}");
    assert!(said.contains("going on after 5 decisions"), "{said}");
    let lines = folder.read("review.jsonl");
    assert!(lines.starts_with(&whole));
    for line in lines.lines().skip(1) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["who"], "Ada");
        assert_eq!(line["data"].as_str().unwrap().len(), 32, "{line}");
        assert_eq!(line["model"].as_str().unwrap().len(), 32, "{line}");
        assert!(line["what"]["decide"].is_array() && line["when"].is_string(), "{line}");
    }
    assert_eq!([folder.read("data/events.csv"), folder.read("data/instances.csv")], before);
}

#[test]
fn steps_are_taken_back_and_all_tabs_see_it() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let first = server.get("state")["revision"].as_u64().unwrap();
    // A second tab waits for news.
    let waited = std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| (server.get(&format!("changes?since={first}")), Instant::now()));
        std::thread::sleep(Duration::from_millis(300));
        let told = Instant::now();
        server.decide("s0-0", "move", Some(2));
        let (news, heard) = waiting.join().unwrap();
        assert!(news["revision"].as_u64().unwrap() > first, "{news}");
        heard.duration_since(told)
    });
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    server.decide("s0-0", "move", Some(4));
    assert_eq!(server.decision("s0-0")["instance"], 4);
    assert_eq!(server.post("undo", &json!({}))["next"], "s0-0");
    assert_eq!(server.decision("s0-0")["instance"], 2);
    server.post("undo", &json!({}));
    assert_eq!(server.decision("s0-0"), Value::Null);
    let answer = server.raw_post("undo", &json!({}));
    assert_eq!((answer.code, answer.body.contains("nothing to be taken back")), (400, true));
    server.post("redo", &json!({}));
    assert_eq!(server.decision("s0-0")["instance"], 2);
    server.kill();
    let server = Server::start(&folder, &[]);
    assert_eq!(server.decision("s0-0")["instance"], 2);
    server.post("redo", &json!({}));
    assert_eq!(server.decision("s0-0")["instance"], 4);
    // An event that was added is in the queue until that is taken back.
    let before = server.queue("");
    server.decide("s0-0", "add", Some(1));
    assert_eq!(server.queue("").len(), before.len() + 1);
    server.post("undo", &json!({}));
    assert_eq!(server.queue(""), before);
}

#[test]
fn many_sure_stamps_are_accepted_at_once() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--every", "1000"]);
    let would = server.get("acceptable?above=0.9");
    let accepted = server.post("accept", &json!({ "above": 0.9 }));
    assert_eq!(accepted["accepted"], would["would_accept"]);
    assert_eq!(accepted["expected_errors"], would["expected_errors"]);
    let count = accepted["accepted"].as_u64().unwrap();
    assert!(count > 10 && would["of"].as_u64().unwrap() > count, "{would}");
    let checks = accepted["spot_check"].as_array().unwrap();
    assert_eq!(checks.len(), 10);
    assert_eq!(server.decision(checks[0].as_str().unwrap())["action"], "accept");
    assert_eq!(server.get("state")["progress"]["done"], count);
    assert_eq!(server.get("acceptable?above=0.9")["would_accept"], 0);
    // All of it is one step.
    server.post("undo", &json!({}));
    assert_eq!(server.get("state")["progress"]["done"], 0);
    for wrong in [json!({}), json!({ "above": 2 }), json!({ "above": "x" })] {
        assert!((400..500).contains(&server.raw_post("accept", &wrong).code), "{wrong}");
    }
}

#[test]
fn the_model_learns_from_answers() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--every", "4"]);
    let fit = |server: &Server| server.get("state")["fit"].clone();
    let first = fit(&server);
    assert_eq!(first["changed"], Value::Null);
    assert_eq!(first["running"], false);
    let mut asked = server.queue("order=informative");
    asked.truncate(4);
    for item in &asked {
        server.decide(item, "reject", None);
    }
    let begun = Instant::now();
    let learned = loop {
        let now = fit(&server);
        if now["changed"].is_string() && now["running"] == false {
            break now;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{now}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let words = learned["changed"].as_str().unwrap();
    assert!(words.contains("expected errors left"), "{words}");
    assert_ne!(learned["spread"], first["spread"]);
    let [value, low, high] = [0, 1, 2].map(|k| learned["delay"][k].as_f64().unwrap());
    assert!(low < value && value < high, "{learned}");
    assert_eq!(learned["modes"][0]["share"], 1.0);
    // Whoever thinks again sees where a rejected stamp might have belonged. Later lines name another model.
    let rejected = asked.iter().find(|id| id.starts_with('s')).unwrap();
    assert!(!server.get(&format!("item/{rejected}"))["candidates"].as_array().unwrap().is_empty());
    server.decide(rejected, "accept", None);
    let log = folder.read("review.jsonl");
    let models: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["model"].clone())
        .collect();
    assert_ne!(models[1], models[models.len() - 1]);
}

#[test]
fn reviewers_who_differ_are_told() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--reviewer", "Ben", "--log", "ben.jsonl"]);
    server.decide("s0-0", "move", Some(2));
    server.decide("s0-1", "reject", None);
    server.decide("s0-2", "move", Some(9));
    server.kill();
    let others = folder.read("ben.jsonl");
    let server = Server::start(&folder, &["--reviewer", "Ada", "--with", "ben.jsonl"]);
    assert_eq!(server.get("state")["conflicts"], json!([]));
    assert_eq!(server.decision("s0-1")["action"], "reject");
    server.decide("s0-0", "move", Some(3));
    server.decide("s0-2", "accept", Some(9));
    let conflicts = server.get("state")["conflicts"].clone();
    let by = json!([
        { "reviewer": "Ada", "action": "move", "instance": 3 },
        { "reviewer": "Ben", "action": "move", "instance": 2 },
    ]);
    assert_eq!(conflicts, json!([{ "item": "s0-0", "by": by }]));
    assert_eq!(server.decision("s0-0")["instance"], 3);
    // What Ben did is Ben's to take back.
    server.post("undo", &json!({}));
    server.post("undo", &json!({}));
    assert_eq!(server.raw_post("undo", &json!({})).code, 400);
    let run = ended(&folder, &["review", "data", "-m", "model.json", "--no-open"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("in use by another review"), "{}", run.err);
    server.kill();
    assert_eq!(folder.read("ben.jsonl"), others);
}

#[test]
fn a_review_of_other_data_is_refused_with_what_changed() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    server.decide("s0-0", "reject", None);
    server.kill();
    let log = folder.read("review.jsonl");
    let events = folder.read("data/events.csv");
    folder.write("data/events.csv", &format!("{events}session-02,100\n"));
    let err = refused(&folder, 3, &["review", "data", "-m", "model.json", "--no-open"]);
    assert!(err.contains("review.jsonl is the review of other data: session-02 had"), "{err}");
    assert_eq!(folder.read("review.jsonl"), log);
    // Another's log of other data is refused too, and begins none.
    let other = ["review", "data", "-m", "model.json", "--no-open", "--log", "new.jsonl"];
    let err = refused(&folder, 3, &[&other[..], &["--with", "review.jsonl"]].concat());
    assert!(err.contains("review.jsonl is the review of other data"), "{err}");
    folder.write("data/events.csv", &events);
    folder.write("review.jsonl", &log.replace("s0-0", "s0-9999"));
    let err = refused(&folder, 3, &["review", "data", "-m", "model.json", "--no-open"]);
    assert!(err.contains("line 2: s0-9999 is not in the data"), "{err}");
}

#[test]
fn an_input_is_never_the_log() {
    let folder = Folder::with_model();
    let events = folder.read("data/events.csv");
    for log in ["data/events.csv", "model.json"] {
        let err =
            refused(&folder, 2, &["review", "data", "-m", "model.json", "--no-open", "--log", log]);
        assert!(err.contains("is an input, not an output"), "{err}");
    }
    assert_eq!(folder.read("data/events.csv"), events);
}

#[test]
fn strangers_get_nothing() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let Server { host, token, .. } = &server;
    assert_eq!(token.len(), 32);
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    let port = host.split(':').nth(1).unwrap();
    let path = format!("GET /{token}/api/state");
    let ask = |first: &str, headers: &str| server.request(first, headers, "").code;
    assert_eq!(ask(&path, &format!("Host: {host}\r\n")), 200);
    assert_eq!(ask(&path, &format!("Host: localhost:{port}\r\n")), 200);
    for wrong in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1:1", "127.0.0.1"] {
        assert_eq!(ask(&path, &format!("Host: {wrong}\r\n")), 421, "{wrong}");
    }
    for wrong in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        let headers = format!("Host: {host}\r\nOrigin: {wrong}\r\n");
        assert_eq!(ask(&path, &headers), 403, "{wrong}");
    }
    let headers = format!("Host: {host}\r\nSec-Fetch-Site: cross-site\r\n");
    assert_eq!(ask(&path, &headers), 403);
    let own = format!("Host: {host}\r\n");
    let zeros = "0".repeat(32);
    for wrong in [&zeros, "", "api", "..", "%2e%2e", &token[..31]] {
        assert_eq!(ask(&format!("GET /{wrong}/api/state"), &own), 404, "{wrong}");
    }
    for wrong in [
        "assets/../../Cargo.toml",
        "assets/..%2f..%2fCargo.toml",
        "assets/%2e%2e/model.json",
        "assets//etc/passwd",
        "assets/",
        "../model.json",
        "model.json",
        "data/events.csv",
        "api",
        "api/item/..%2f..%2fmodel.json",
        "api/item/s0-99999",
        "api/item/s99-0",
        "api/item/x",
    ] {
        let answer = server.raw_get(wrong);
        assert!([400, 404].contains(&answer.code), "{wrong}: {} {}", answer.code, answer.body);
    }
    for wrong in [
        "api/signal?session=99&from=0&to=1",
        "api/signal?session=0&from=nan&to=1",
        "api/signal?session=0&from=2&to=1",
        "api/signal",
        "api/queue?order=x",
        "api/acceptable?above=-1",
    ] {
        assert_eq!(server.raw_get(wrong).code, 400, "{wrong}");
    }
    // Nothing of that decided anything.
    assert_eq!(folder.read("review.jsonl").lines().count(), 1);
}

#[test]
fn odd_requests_are_refused_and_change_nothing() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let Server { host, token, .. } = &server;
    let first = format!("POST /{token}/api/decide");
    let json = format!("Host: {host}\r\nContent-Type: application/json\r\n");
    let body = r#"{"item":"s0-0","action":"reject"}"#;
    // A form of another page can send text, but no JSON.
    let text = format!("Host: {host}\r\nContent-Type: text/plain\r\n");
    assert_eq!(server.request(&first, &text, body).code, 415);
    assert_eq!(server.request(&first, &json, &format!("{body}{}", " ".repeat(1 << 20))).code, 413);
    assert_eq!(server.request(&format!("GET /{token}/api/decide"), &json, body).code, 405);
    for wrong in [
        "",
        "{",
        "[]",
        r#"{"item":"s0-0"}"#,
        r#"{"item":"s0-0","action":"delete"}"#,
        r#"{"item":"../x","action":"reject"}"#,
        r#"{"item":"s0-99999","action":"reject"}"#,
        r#"{"item":"s99-0","action":"reject"}"#,
        r#"{"item":"m0-99999","action":"missed"}"#,
        r#"{"item":"s0-0","action":"move"}"#,
        r#"{"item":"s0-0","action":"missed","instance":1}"#,
        r#"{"item":"s0-0","action":"add"}"#,
        r#"{"item":"s0-0","action":"move","instance":99999}"#,
        r#"{"item":"s0-0","action":"move","instance":-1}"#,
    ] {
        let code = server.request(&first, &json, wrong).code;
        assert!((400..423).contains(&code), "{wrong}: {code}");
    }
    for wrong in ["", "\r\n\r\n", "GET", "\u{0}\u{1}", &"x".repeat(100_000)] {
        let mut stream = TcpStream::connect(host).unwrap();
        let _ = stream.write_all(wrong.as_bytes());
    }
    assert_eq!(folder.read("review.jsonl").lines().count(), 1);
    assert_eq!(server.request(&first, &json, body).code, 200);
    assert_eq!(folder.read("review.jsonl").lines().count(), 2);
}

#[test]
fn the_page_may_only_talk_to_its_server() {
    let folder = Folder::with_small_data();
    let evil = "</script><img src=x onerror=alert(1)>";
    let named =
        |name: &str| folder.write(name, &folder.read(name).replace("p3,", &format!("{evil},")));
    named("instances.csv");
    named("events.csv");
    let small = crate::folder::small("review", &["--no-open"]);
    let server = Server::of(&folder, &small);
    let page = server.raw_get("");
    assert_eq!(page.code, 200);
    assert!(page.head.contains("content-type: text/html"), "{}", page.head);
    assert!(!page.body.contains("onerror") && !page.body.contains("<script>"), "{}", page.body);
    for answer in [&page, &server.raw_get("api/state"), &server.raw_get("nothing")] {
        for expected in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(answer.head.contains(expected), "{expected}: {}", answer.head);
        }
    }
    assert!(!page.head.contains("unsafe"), "{}", page.head);
    // Names are data, and found by search.
    let names = server.get("state")["sessions"].clone();
    let names: Vec<&str> =
        names.as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert!(names.contains(&evil), "{names:?}");
    let found = server.queue("search=ONERROR");
    assert!(!found.is_empty() && found.len() < server.queue("").len(), "{found:?}");
    let own = names.iter().position(|name| *name == evil).unwrap();
    assert!(
        found
            .iter()
            .all(|id| id.starts_with(&format!("s{own}-")) || id.starts_with(&format!("m{own}-")))
    );
    let answer = server.raw_get("api/state");
    assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
}

#[test]
fn views_have_the_signal_and_what_is_on_it() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let session = server.get("state")["sessions"][0].clone();
    let (start, end) = (session["start"].as_f64().unwrap(), session["end"].as_f64().unwrap());
    let view = server.get(&format!("signal?session=0&from={start}&to={end}&pixels=100"));
    let channel = &view["channels"][0];
    let length = channel["times"].as_array().unwrap().len();
    assert!((50..900).contains(&length), "{length}");
    assert_eq!(channel["low"].as_array().unwrap().len(), length);
    assert!(channel["name"].is_string());
    assert_eq!(
        view["stamps"].as_array().unwrap().len() as u64,
        session["stamps"].as_u64().unwrap()
    );
    let instances = view["instances"].as_array().unwrap();
    assert!(instances.len() <= 200 && instances.len() > 50, "{}", instances.len());
    let item = server.get("item/s0-3");
    let (from, to) = (item["from"].as_f64().unwrap(), item["to"].as_f64().unwrap());
    let stamp = item["stamp"].as_f64().unwrap();
    assert!(from < stamp && stamp < to, "{item}");
    let candidates = item["candidates"].as_array().unwrap();
    let p = |one: &Value| one["p"].as_f64().unwrap();
    let all: f64 = candidates.iter().map(p).sum::<f64>() + item["p_spurious"].as_f64().unwrap();
    assert!((all - 1.0).abs() < 0.01, "{all}"); // candidates below 1e-4 are left out
    assert!(candidates.windows(2).all(|pair| p(&pair[0]) >= p(&pair[1])));
    let near = server.get(&format!("signal?session=0&from={from}&to={to}&pixels=800"));
    let times = near["channels"][0]["times"].as_array().unwrap();
    assert!(
        times.len() > 20 && times.iter().any(|time| (from..to).contains(&time.as_f64().unwrap()))
    );
    // Without a signal, features are drawn.
    std::fs::remove_file(folder.path("data/signal.csv.gz")).unwrap();
    let server = Server::start(&folder, &["--log", "other.jsonl"]);
    let view = server.get(&format!("signal?session=0&from={start}&to={end}"));
    assert!(view["channels"].as_array().unwrap().len() > 2);
}

#[test]
fn the_queue_is_ordered_as_asked() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let items =
        |order: &str| server.get(&format!("queue?count=1000&order={order}"))["items"].clone();
    let numbers = |order: &str, of: &str| -> Vec<f64> {
        items(order).as_array().unwrap().iter().map(|item| item[of].as_f64().unwrap()).collect()
    };
    assert!(numbers("probability", "probability").is_sorted());
    assert!(numbers("session", "session").is_sorted());
    assert!(numbers("time", "session").is_sorted());
    assert!(!numbers("informative", "session").is_sorted());
    // What is sure tells least.
    let told = numbers("informative", "probability");
    let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
    assert!(mean(&told[..10]) < 0.7 && mean(&told[told.len() - 10..]) > 0.9, "{told:?}");
    let ids = server.queue("order=informative");
    assert_eq!(server.decide(&ids[0], "skip", None)["next"], ids[1].as_str());
    assert_eq!(server.queue("order=informative").last(), Some(&ids[0]));
    let page = server.get("queue?from=2&count=3");
    assert_eq!(page["items"].as_array().unwrap().len(), 3);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_review() {
    let folder = Folder::with_model();
    let mut server = Server::start(&folder, &[]);
    server.decide("s0-0", "reject", None);
    let mut child = server.child.take().unwrap();
    let status =
        std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
    let asked = Instant::now();
    while child.try_wait().unwrap().is_none() && asked.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("your decisions are in review.jsonl"), "{}", run.err);
    assert_eq!(folder.read("review.jsonl").lines().count(), 2);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = Folder::with_model();
    for (options, expected) in [
        (&["--every", "0"][..], "--every"),
        (&["--link", "javascript:alert(1)"], "--link"),
        (&["--reviewer", " "], "--reviewer"),
        (&["--with", "gone.jsonl"], "gone.jsonl"),
        (&["-m", "gone.json"], "gone.json"),
        (&["--listen", "everywhere"], "--listen"),
    ] {
        let model = if options.contains(&"-m") { &[][..] } else { &["-m", "model.json"] };
        let run = ended(&folder, &[&["review", "data", "--no-open"], model, options].concat());
        assert!((1..=2).contains(&run.code), "{options:?}: {}", run.code);
        assert!(run.err.contains(expected), "{options:?}: {}", run.err);
        assert!(!folder.path("review.jsonl").exists(), "{options:?}");
    }
}

/// The lines of a table by column.
fn rows(folder: &Folder, name: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let text = folder.read(name);
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().unwrap().collect();
    lines.map(|cells| header.iter().cloned().zip(cells).collect()).collect()
}

#[test]
fn what_came_of_it_is_exported_as_tables() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--reviewer", "Ada", "--every", "1000"]);
    let time_of = |instance: u64| {
        let view = server.get("signal?session=0&from=0&to=1e6&pixels=20000");
        let all = view["instances"].as_array().unwrap().clone();
        all.iter().find(|own| own["index"] == instance).unwrap()["time"].as_f64().unwrap()
    };
    let moved = time_of(7);
    let added = time_of(3);
    server.decide("s0-0", "move", Some(7));
    server.decide("s0-1", "reject", None);
    server.decide("s0-2", "accept", None);
    server.decide("s0-3", "add", Some(3));
    server.kill();
    let arguments = ["review", "data", "-m", "model.json", "--export", "out"];
    let words = folder.ok(&arguments);
    assert!(words.contains("aligned.csv") && words.contains("4 decisions"), "{words}");
    let before = rows(&folder, "data/events.csv");
    let [aligned, confirmed, rejected] =
        ["aligned", "confirmed", "rejected"].map(|name| rows(&folder, &format!("out/{name}.csv")));
    assert_eq!((confirmed.len(), rejected.len()), (2, 1));
    assert_eq!(aligned.len(), before.len() - 1);
    let time =
        |row: &std::collections::BTreeMap<String, String>| row["time"].parse::<f64>().unwrap();
    assert!((time(&confirmed[0]) - moved).abs() < 1e-6, "{:?}", confirmed[0]);
    assert_eq!(
        (&confirmed[0]["stamp"], &confirmed[0]["decision"]),
        (&before[0]["time"], &"move".to_owned())
    );
    assert_eq!(confirmed[1]["decision"], "accept");
    assert_eq!(
        (&rejected[0]["time"], &rejected[0]["reviewer"]),
        (&before[1]["time"], &"Ada".to_owned())
    );
    assert_eq!(aligned.iter().filter(|row| row["decision"].is_empty()).count(), before.len() - 3);
    let extra = rows(&folder, "out/added.csv");
    assert_eq!((extra.len(), extra[0]["decision"].as_str()), (1, "add"));
    assert!((time(&extra[0]) - added).abs() < 1e-6, "{extra:?}");
    // The tables are events again, and those of an earlier export are kept.
    folder.ok(&["inspect", "--instances", "data/instances.csv", "--events", "out/confirmed.csv"]);
    assert_eq!(ended(&folder, &arguments).code, 4);
    folder.ok(&[&arguments[..], &["--force"]].concat());
}

#[test]
fn label_studio_s_answers_become_decisions() {
    let folder = Folder::with_model();
    let arguments = ["review", "data", "-m", "model.json", "--reviewer", "Ada"];
    folder.ok(&[&arguments[..], &["--export", "out"]].concat());
    let interface = folder.read("out/label-studio.xml");
    assert!(
        interface.contains("<TimeSeries ") && interface.contains("<Channel column="),
        "{interface}"
    );
    let mut tasks = folder.json("out/label-studio.json");
    let task = tasks[0].clone();
    let series = task["data"]["ts"].as_object().unwrap();
    let length = series["time"].as_array().unwrap().len();
    assert!(series.len() > 1 && series.values().all(|own| own.as_array().unwrap().len() == length));
    let regions = task["predictions"][0]["result"].as_array().unwrap().clone();
    let stamp = |region: &&Value| {
        region["id"].as_str().unwrap().starts_with('s')
            && region["value"]["timeserieslabels"][0] == "event"
    };
    let stamps: Vec<&Value> = regions.iter().filter(stamp).collect();
    // One stays, one is moved by some instances, one is deleted, all others stay, and one is new.
    let [kept, changed, gone] = [0, 1, 2].map(|k| stamps[k]["id"].as_str().unwrap().to_owned());
    let mut result: Vec<Value> =
        regions.iter().filter(|region| region["id"] != gone.as_str()).cloned().collect();
    for region in result.iter_mut().filter(|region| region["id"] == changed.as_str()) {
        let time = region["value"]["start"].as_f64().unwrap() + 40.0;
        region["value"]["start"] = json!(time);
        region["value"]["end"] = json!(time);
    }
    result.push(json!({
        "id": "Dx_aB91ISN", "type": "timeserieslabels", "from_name": "label", "to_name": "ts",
        "value": { "start": 30.0, "end": 30.0, "instant": true, "timeserieslabels": ["event"] },
    }));
    result.push(json!({ "id": "x", "type": "choices", "value": { "choices": ["good"] } }));
    tasks[0]["annotations"] = json!([
        { "was_cancelled": false, "result": result },
        { "was_cancelled": true, "result": [] },
    ]);
    tasks[1]["annotations"] = json!([]);
    folder.write("labelled.json", &tasks.to_string());
    let import = [&arguments[..], &["--import", "labelled.json", "--json"]].concat();
    let count = folder.ok_json(&import)["imported"].as_u64().unwrap() as usize;
    assert_eq!(count, regions.len() + 1);
    // The same again is nothing new.
    assert_eq!(folder.ok_json(&import)["imported"], 0);
    let server = Server::start(&folder, &["--reviewer", "Ada"]);
    assert_eq!(server.decision(&kept)["action"], "accept");
    assert_eq!(server.decision(&changed)["action"], "move");
    assert_eq!(server.decision(&gone)["action"], "reject");
    assert_eq!(server.decision("s1-0"), Value::Null);
    let added = server.queue("").into_iter().filter(|id| server.decision(id)["action"] == "add");
    assert_eq!(added.count(), 1);
    // All of it is one step.
    server.post("undo", &json!({}));
    assert_eq!(server.decision(&kept), Value::Null);
    server.kill();
    for (text, expected) in [
        ("{", "Label Studio exports as JSON"),
        (r#"[{"data":{}}]"#, "no data.session"),
        (r#"[{"data":{"session":"gone"}}]"#, "there is no session"),
    ] {
        folder.write("labelled.json", text);
        let run = ended(&folder, &import);
        assert!(run.code == 3 && run.err.contains(expected), "{}: {}", run.code, run.err);
    }
}
