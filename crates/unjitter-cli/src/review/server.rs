//! The server: addresses, and what is done for each.
//!
//! Handlers answer from memory; the one that waits for the disk, a decision, does so on a thread that may wait.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::answers::{self, Order};
use super::assets;
use super::desk::{Desk, Done};
use super::guard::{Door, guard};
use super::item::{Action, Item};
use super::spot_check::spot_check;
use crate::failure::Mistake;
use crate::interrupt;

/// Bytes that a request may have.
const MOST_BYTES: usize = 16 * 1024;
/// How long a question for changes is kept waiting.
const PATIENCE: Duration = Duration::from_secs(25);
/// How often to look for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

type Shared = State<Arc<Desk>>;

/// Serves until Ctrl-C. `ready` hears the address once the page can be opened.
pub(crate) fn serve(
    desk: Arc<Desk>,
    address: SocketAddr,
    ready: impl FnOnce(&Door) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address).await.map_err(|source| {
            Mistake::Usage(format!("cannot listen at {address}: {source}; --port names another"))
        })?;
        let door = Door::new(listener.local_addr()?)?;
        ready(&door)?;
        let server = axum::serve(listener, routes(desk, door));
        // Open requests are left alone: what was decided is on the disk already.
        tokio::select! {
            served = server => Ok(served?),
            () = interrupted() => Ok(()),
        }
    });
    // Questions for changes would be waited for.
    runtime.shutdown_background();
    served
}

async fn interrupted() {
    while !interrupt::is_requested() {
        tokio::time::sleep(LOOK).await;
    }
}

fn routes(desk: Arc<Desk>, door: Door) -> Router {
    let api = Router::new()
        .route("/state", get(state))
        .route("/queue", get(queue))
        .route("/item/{id}", get(item))
        .route("/signal", get(signal))
        .route("/acceptable", get(acceptable))
        .route("/changes", get(changes))
        .route("/decide", post(decide))
        .route("/accept", post(accept))
        .route("/undo", post(undo))
        .route("/redo", post(redo));
    Router::new()
        .route("/{token}/", get(page))
        .route("/{token}/assets/{name}", get(asset))
        .nest("/{token}/api", api)
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(axum::middleware::from_fn_with_state(door, guard))
        .with_state(desk)
}

/// A refusal, told as JSON.
struct Refused(StatusCode, String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        let code = match error.downcast_ref::<Mistake>() {
            Some(_) => StatusCode::BAD_REQUEST,
            None => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(code, format!("{error:#}"))
    }
}

impl From<QueryRejection> for Refused {
    fn from(rejected: QueryRejection) -> Self {
        Self(rejected.status(), rejected.body_text())
    }
}

impl From<JsonRejection> for Refused {
    fn from(rejected: JsonRejection) -> Self {
        Self(rejected.status(), rejected.body_text())
    }
}

type Answer = Result<Json<Value>, Refused>;

async fn page() -> Response {
    file(assets::PAGE)
}

async fn asset(Path((_, name)): Path<(String, String)>) -> Response {
    file(&name)
}

fn file(name: &str) -> Response {
    match assets::file(name) {
        Some((kind, text)) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Runs what may take a while.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

async fn state(State(desk): Shared) -> Answer {
    Ok(Json(waiting(move || answers::state(&desk)).await?))
}

#[derive(Debug, Deserialize)]
struct QueueQuery {
    #[serde(default)]
    order: Order,
    #[serde(default)]
    search: String,
    #[serde(default)]
    from: usize,
    #[serde(default = "fifty")]
    count: usize,
}

fn fifty() -> usize {
    50
}

async fn queue(State(desk): Shared, query: Result<Query<QueueQuery>, QueryRejection>) -> Answer {
    let QueueQuery { order, search, from, count } = query?.0;
    Ok(Json(waiting(move || answers::queue(&desk, order, &search, from, count)).await?))
}

async fn item(State(desk): Shared, Path((_, id)): Path<(String, String)>) -> Answer {
    let id: Item = id.parse().map_err(|error| Refused(StatusCode::NOT_FOUND, error))?;
    Ok(Json(waiting(move || answers::item(&desk, id)).await??))
}

#[derive(Debug, Deserialize)]
struct SignalQuery {
    session: usize,
    from: f64,
    to: f64,
    #[serde(default = "usual_width")]
    pixels: usize,
}

fn usual_width() -> usize {
    1000
}

async fn signal(
    State(desk): Shared,
    query: Result<Query<SignalQuery>, QueryRejection>,
) -> Result<Response, Refused> {
    let SignalQuery { session, from, to, pixels } = query?.0;
    let view = waiting(move || answers::signal(&desk, session, (from, to), pixels)).await??;
    Ok(Json(view).into_response())
}

#[derive(Debug, Deserialize)]
struct DecideBody {
    item: Item,
    action: Action,
    #[serde(default)]
    instance: Option<usize>,
}

fn told(done: anyhow::Result<Done>) -> Answer {
    let Done { revision, seq, next } = done?;
    Ok(Json(json!({ "revision": revision, "seq": seq, "next": next })))
}

async fn decide(State(desk): Shared, body: Result<Json<DecideBody>, JsonRejection>) -> Answer {
    let DecideBody { item, action, instance } = body?.0;
    told(waiting(move || desk.decide(item, action, instance)).await?)
}

async fn undo(State(desk): Shared, body: Result<Json<Value>, JsonRejection>) -> Answer {
    let _ = body?;
    told(waiting(move || desk.turn(false)).await?)
}

async fn redo(State(desk): Shared, body: Result<Json<Value>, JsonRejection>) -> Answer {
    let _ = body?;
    told(waiting(move || desk.turn(true)).await?)
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Above {
    above: f64,
}

impl Above {
    fn checked(self) -> Result<f64, Refused> {
        match (0.0..=1.0).contains(&self.above) {
            true => Ok(self.above),
            false => Err(Refused(StatusCode::BAD_REQUEST, "expected a probability".to_owned())),
        }
    }
}

async fn acceptable(State(desk): Shared, query: Result<Query<Above>, QueryRejection>) -> Answer {
    let above = query?.0.checked()?;
    let state = desk.lock();
    let of = Desk::acceptable(&state, 0.0).len();
    let accepted = Desk::acceptable(&state, above);
    let errors: f64 = accepted.iter().map(|one| 1.0 - one.probability).sum();
    Ok(Json(json!({ "would_accept": accepted.len(), "of": of, "expected_errors": errors })))
}

async fn accept(State(desk): Shared, body: Result<Json<Above>, JsonRejection>) -> Answer {
    let above = body?.0.checked()?;
    let accepted = waiting(move || desk.accept(above)).await??;
    let errors: f64 = accepted.iter().map(|one| 1.0 - one.probability).sum();
    let items: Vec<Item> = accepted.iter().map(|one| one.item).collect();
    let checks = spot_check(&items);
    Ok(Json(json!({ "accepted": items.len(), "expected_errors": errors, "spot_check": checks })))
}

#[derive(Debug, Deserialize)]
struct Since {
    #[serde(default)]
    since: u64,
}

async fn changes(State(desk): Shared, query: Result<Query<Since>, QueryRejection>) -> Answer {
    let since = query?.0.since;
    let mut changes = desk.changes();
    // A number of an earlier server is not waited for.
    let _ = tokio::time::timeout(PATIENCE, changes.wait_for(|revision| *revision != since)).await;
    Ok(Json(json!({ "revision": desk.revision() })))
}
