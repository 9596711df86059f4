/*!
What can be asked for, by path and method. `openapi.json` describes it; tests compare the two.
*/

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use dedust::errors::DecideError;
use dedust::errors::with_causes;
use dedust::rules::{DecidedRules, Decision, DecisionVerb, RefusedRule, SiteEntry, SiteSummary};
use serde::{Deserialize, Serialize};

use crate::answer::Verb;
use crate::app::{Answer, App, Shared, answer};
use crate::crawl;
use crate::error::RulesError;
use crate::event::now_in_seconds;
use crate::guard::protect;
use crate::learning::NotStarted;
use crate::metrics;
use crate::problem::{Problem, json};
use crate::report::{ReportError, page_files};

/// The OpenAPI description of the API.
pub const OPENAPI: &str = include_str!("openapi.json");

/// Every path of the API. The files of the page are beside them.
pub const ROUTES: &[&str] = &[
    "/v1/normalize",
    "/v1/keys",
    "/v1/seen",
    "/v1/crawl",
    "/v1/crawl/admit",
    "/v1/crawl/observe",
    "/v1/crawl/returned",
    "/v1/explain",
    "/v1/rules",
    "/v1/rules/{site}",
    "/v1/rules/{site}/decisions",
    "/v1/learn",
    "/v1/report",
    "/openapi.json",
    "/metrics",
    "/healthz",
];

/// Bytes of a decision at most.
const DECISION_BYTES: usize = 64 << 10;

/// All handlers, behind the guard.
pub(crate) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for file in page_files() {
        let path = file.path.clone();
        let file = Arc::new(file);
        router = router.route(&path, get(async move || file.respond()));
    }
    router
        .route("/v1/normalize", post(normalize))
        .route("/v1/keys", post(keys))
        .route("/v1/seen", post(seen))
        .route("/v1/crawl", get(crawl::status))
        .route("/v1/crawl/admit", post(crawl::admit))
        .route("/v1/crawl/observe", post(crawl::observe))
        .route("/v1/crawl/returned", get(crawl::returned))
        .route("/v1/explain", post(explain))
        .route("/v1/rules", get(served))
        .route("/v1/rules/{site}", get(site))
        .route("/v1/rules/{site}/decisions", post(decide))
        .route("/v1/learn", get(learn_state).post(learn).delete(cancel))
        .route("/v1/report", get(report))
        .route("/openapi.json", get(openapi))
        .route("/metrics", get(metrics))
        .route("/healthz", get(healthz))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::clone(&app), admit))
        .with_state(app)
}

/// Lets a request in or not, counts it, and tells browsers to be careful with the answer.
async fn admit(State(app): Shared, path: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    // Names that are known, so that strangers cannot make new ones.
    let route = match path {
        "" => "other",
        path => ROUTES.iter().find(|route| **route == path).copied().unwrap_or("page"),
    };
    let target = format!("{} {}", request.method(), request.uri().path());
    let writes = match route {
        "/v1/seen" | "/v1/crawl/admit" | "/v1/crawl/observe" | "/v1/crawl/returned" => app.guard.guards_seen,
        "/v1/rules/{site}/decisions" | "/v1/learn" => request.method() != Method::GET,
        _ => false,
    };
    let (head, body) = request.into_parts();
    let admitted = app.guard.check(&head).and_then(|()| match writes {
        true => app.guard.check_token(&head.headers),
        false => Ok(()),
    });
    let mut response = match admitted {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(problem) => problem.into_response(),
    };
    protect(&mut response);
    let time = started.elapsed();
    app.metrics.answered(route, response.status(), time);
    app.log
        .detail("request", format!("{} {target} in {:.3} ms", response.status(), time.as_secs_f64() * 1e3));
    response
}

async fn normalize(State(app): Shared, request: Request) -> Answer {
    answer(&app, "/v1/normalize", Verb::Normalize, request).await
}

async fn keys(State(app): Shared, request: Request) -> Answer {
    answer(&app, "/v1/keys", Verb::Keys, request).await
}

async fn seen(State(app): Shared, request: Request) -> Answer {
    let Some(seen) = app.seen.clone() else {
        return Err(Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "this server has no set of seen pages",
            "start it with --seen DIR",
        ));
    };
    answer(&app, "/v1/seen", Verb::Seen(seen), request).await
}

async fn explain(State(app): Shared, request: Request) -> Answer {
    answer(&app, "/v1/explain", Verb::Explain, request).await
}

/// The rules that are served, in short.
#[derive(Serialize)]
struct ServedRules {
    /// Another one whenever rules were loaded or written.
    version: u64,
    /// Another one if keys or canonical URLs may be others.
    fingerprint: String,
    sites: u64,
    rules: u64,
    /// Whether the file has changed since and cannot be used.
    stale: bool,
}

async fn served(State(app): Shared) -> Response {
    let version = app.metrics.rules_loads.get();
    let normalizer = &app.rules.current().normalizer;
    json(&ServedRules {
        version,
        fingerprint: format!("{:032x}", normalizer.fingerprint()),
        sites: normalizer.site_count(),
        rules: normalizer.rule_count(),
        stale: app.metrics.rules_stale.get() != 0,
    })
}

/// The rules of a site.
#[derive(Serialize)]
struct SiteRecord<'a> {
    site: &'a str,
    hosts: &'a [Box<str>],
    summary: &'a SiteSummary,
    rules: Vec<RuleRecord<'a>>,
    refused: &'a [RefusedRule],
}

#[derive(Serialize)]
struct RuleRecord<'a> {
    index: usize,
    id: String,
    sentence: String,
    applied: bool,
    rule: SiteEntry<'a>,
}

impl<'a> RuleRecord<'a> {
    fn new(index: usize, rule: SiteEntry<'a>) -> Self {
        Self {
            index,
            id: rule.id().to_string(),
            sentence: rule.to_string(),
            applied: rule.is_applied(),
            rule,
        }
    }
}

/// The site that a path names.
fn site_name(path: Result<Path<String>, PathRejection>) -> Result<String, Problem> {
    let Path(name) = path.map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, error.body_text(), "name the site in UTF-8, as example.org")
    })?;
    Ok(name)
}

async fn site(State(app): Shared, path: Result<Path<String>, PathRejection>) -> Answer {
    let name = site_name(path)?;
    let loaded = app.rules.current();
    let Some(rules) = &loaded.rules else {
        return Err(Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "the server has compiled rules, which have no text",
            "start it with the rule file that they were compiled from",
        ));
    };
    let Some(site) = rules.site(&name) else { return Err(unknown_site(&name)) };
    let rules = site.entries().enumerate().map(|(index, rule)| RuleRecord::new(index, rule)).collect();
    let (hosts, summary, refused) = (site.hosts(), site.summary(), site.refused());
    Ok(json(&SiteRecord { site: &name, hosts, summary, rules, refused }))
}

fn unknown_site(name: &str) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        format!("the rule file has no site `{name}`"),
        "sites are named by their registrable domain, such as example.org",
    )
}

/// What is decided about some rules of a site.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionRequest {
    verb: DecisionVerb,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    all: bool,
    by: Option<Box<str>>,
    why: Option<Box<str>>,
}

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
enum ChangeError {
    #[error(transparent)]
    Decide(#[from] DecideError),
    #[error(transparent)]
    Rules(#[from] RulesError),
}

async fn decide(State(app): Shared, path: Result<Path<String>, PathRejection>, body: Body) -> Answer {
    let site = site_name(path)?;
    let expected = "send JSON such as {\"verb\":\"off\",\"ids\":[\"1bcc19fb\"],\"by\":\"anna\",\"why\":\"breaks the search\"}";
    let refuse = |error: String| Problem::new(StatusCode::BAD_REQUEST, error, expected);
    let body = tokio::time::timeout(app.limits.request, to_bytes(body, DECISION_BYTES)).await;
    let body = body.map_err(|_| refuse("the body took too long".into()))?;
    let body = body.map_err(|error| refuse(format!("the body cannot be read: {error}")))?;
    let request: DecisionRequest =
        serde_json::from_slice(&body).map_err(|error| refuse(format!("no decision: {error}")))?;
    if request.all != request.ids.is_empty() {
        return Err(refuse("either `ids` or `all` must say which rules are meant".into()));
    }
    let done = tokio::task::spawn_blocking(move || write_decision(&app, &site, request)).await;
    done.map_err(|error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), "look into the log of the server")
    })?
}

/// Decides, and writes the file.
fn write_decision(app: &App, site: &str, request: DecisionRequest) -> Answer {
    let DecisionRequest { verb, ids, all, by, why } = request;
    let text = |text: Option<Box<str>>| text.filter(|text| !text.is_empty());
    let by = text(by).unwrap_or_else(|| "dedust serve".into());
    let decision = Decision { by: Some(by.clone()), at: Some(now_in_seconds().into()), why: text(why) };
    let decided = app.rules.change(|rules| {
        let which = if all { DecidedRules::All } else { DecidedRules::Ids(&ids) };
        Ok::<_, ChangeError>(rules.decide(site, which, verb, &decision)?)
    });
    let decided = decided.map_err(|error| {
        let status = match &error {
            ChangeError::Decide(DecideError::UnknownSite { .. } | DecideError::UnknownId { .. }) => {
                StatusCode::NOT_FOUND
            }
            ChangeError::Decide(_) => StatusCode::CONFLICT,
            ChangeError::Rules(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Problem::new(status, with_causes(&error), "nothing was written; GET /v1/rules/SITE has the ids")
    })?;
    let changed = decided.iter().filter(|decided| decided.is_changed).count();
    app.log.note("decided", format!("{by}: {verb:?} on {changed} rules of {site}"));
    let loaded = app.rules.current();
    let site_rules = loaded.rules.as_ref().and_then(|rules| rules.site(site));
    let rules = decided.iter().filter_map(|decided| Some((decided.index, site_rules?.entry(decided.index)?)));
    let rules: Vec<RuleRecord<'_>> = rules.map(|(index, rule)| RuleRecord::new(index, rule)).collect();
    Ok(json(&serde_json::json!({ "site": site, "changed": changed, "rules": rules })))
}

async fn learn_state(State(app): Shared) -> Response {
    json(&app.learning.state())
}

async fn learn(State(app): Shared) -> Answer {
    match app.learning.start(Arc::clone(&app.rules)) {
        Ok(()) => Ok((StatusCode::ACCEPTED, json(&app.learning.state())).into_response()),
        Err(NotStarted::NoCrawl) => Err(Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "this server has no crawl to learn from",
            "name it at the start: dedust serve RULES CRAWL",
        )),
        Err(NotStarted::IsRunning) => Err(Problem::new(
            StatusCode::CONFLICT,
            "rules are being learned",
            "wait until GET /v1/learn says that it is done, or cancel it with DELETE",
        )),
    }
}

async fn cancel(State(app): Shared) -> Response {
    app.learning.cancel();
    json(&app.learning.state())
}

async fn report(State(app): Shared) -> Answer {
    let made = app.report.of(app.rules.current()).await;
    let made = made.map_err(|error| {
        let status = match error {
            ReportError::NothingKnown | ReportError::TooLarge => StatusCode::NOT_IMPLEMENTED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Problem::new(status, error.in_words(), "dedust report with the same files says more")
    })?;
    Ok(([(header::CONTENT_TYPE, "application/json")], made).into_response())
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

async fn metrics(State(app): Shared) -> Response {
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], app.metrics.to_text()).into_response()
}

async fn healthz() -> &'static str {
    "ok\n"
}

async fn unknown_path(request: Request) -> Problem {
    let problem = format!("there is nothing at {}", request.uri().path());
    Problem::new(StatusCode::NOT_FOUND, problem, "GET /openapi.json describes what there is")
}

async fn wrong_method(request: Request) -> Problem {
    let problem = format!("{} cannot be used with {}", request.uri().path(), request.method());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, problem, "GET /openapi.json describes what there is")
}
