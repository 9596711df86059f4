/*!
What is counted, and how Prometheus reads it.
*/

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Whoever says what the answer is in: the text format of OpenMetrics, which Prometheus reads.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A request by where it went and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    route: &'static str,
    status: u16,
}

/// Where a request went.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: &'static str,
}

/// All counters.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    lines: Family<Route, Counter>,
    bad_lines: Family<Route, Counter>,
    pub(crate) new_keys: Counter,
    pub(crate) seen_keys: Gauge<u64, AtomicU64>,
    pub(crate) connections: Gauge<i64>,
    pub(crate) connections_refused: Counter,
    pub(crate) rules_loads: Counter,
    pub(crate) rules_refused: Counter,
    /// 1 if the file holds rules that were refused, so that older ones are served.
    pub(crate) rules_stale: Gauge<i64>,
    pub(crate) rules_sites: Gauge<u64, AtomicU64>,
    pub(crate) rules_rules: Gauge<u64, AtomicU64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("dedust");
        let buckets: fn() -> Histogram = || Histogram::new(exponential_buckets(0.000_25, 2.0, 18));
        let metrics = Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(buckets),
            lines: Family::default(),
            bad_lines: Family::default(),
            new_keys: Counter::default(),
            seen_keys: Gauge::default(),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
            rules_loads: Counter::default(),
            rules_refused: Counter::default(),
            rules_stale: Gauge::default(),
            rules_sites: Gauge::default(),
            rules_rules: Gauge::default(),
            registry: Registry::default(),
        };
        let m = &metrics;
        registry.register("requests", "Requests answered", m.requests.clone());
        let help = "Seconds from the head of a request to the head of its answer";
        registry.register("request_seconds", help, m.seconds.clone());
        registry.register("lines", "Lines of batches", m.lines.clone());
        registry.register("bad_lines", "Lines of batches that are no URLs", m.bad_lines.clone());
        registry.register("new_keys", "Keys that were new to the seen-set", m.new_keys.clone());
        registry.register("seen_keys", "Keys in the seen-set", m.seen_keys.clone());
        registry.register("connections", "Open connections", m.connections.clone());
        let help = "Connections turned away, since there were too many";
        registry.register("connections_refused", help, m.connections_refused.clone());
        registry.register("rules_loads", "Times that rules were loaded", m.rules_loads.clone());
        let help = "Times that a changed rule file was refused, and the rules before it were kept";
        registry.register("rules_refused", help, m.rules_refused.clone());
        let help = "1 if the rules served are older than the rule file, since that was refused";
        registry.register("rules_stale", help, m.rules_stale.clone());
        registry.register("rules_sites", "Sites that have rules", m.rules_sites.clone());
        registry.register("rules_rules", "Rules that are applied", m.rules_rules.clone());
        Self { registry, ..metrics }
    }

    /// Counts a request.
    pub(crate) fn answered(&self, route: &'static str, status: StatusCode, time: Duration) {
        self.requests.get_or_create(&Answered { route, status: status.as_u16() }).inc();
        self.seconds.get_or_create(&Route { route }).observe(time.as_secs_f64());
    }

    /// Counters of lines and bad lines of a route.
    pub(crate) fn line_counters(&self, route: &'static str) -> (Counter, Counter) {
        let route = Route { route };
        (self.lines.get_or_create_owned(&route), self.bad_lines.get_or_create_owned(&route))
    }

    /// All figures, as Prometheus reads them.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        // Only what cannot be written to fails, and a text can.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}
