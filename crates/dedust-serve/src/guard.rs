/*!
Who may ask, and who may write: checked before any handler runs.

A page of a stranger that is open in a browser can send requests to this machine. It cannot read the answers, unless its name leads to
this machine too (DNS rebinding). So requests must name a host that is known here, and those that come from a page must come from a page
of this server. What a browser asks for without an origin, as images and links, it marks as coming from elsewhere: a person who follows a
link gets the page, and all else is refused, since it may be costly. Whoever writes must know the token besides.
*/

use std::net::IpAddr;
use std::sync::LazyLock;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use dedust_report::page::LIVE_POLICY;
use subtle::ConstantTimeEq as _;

use crate::problem::Problem;

/// What the page may do, and nobody may show it inside of another.
static PAGE_POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!("{LIVE_POLICY}; frame-ancestors 'none'");
    HeaderValue::from_str(&policy).unwrap_or_else(|_| NO_POLICY.clone())
});
/// What all other answers may do: nothing.
static NO_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

/// Whom to answer.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    token: String,
    /// Whether adding to the seen-set is writing too: where strangers can reach the server.
    pub(crate) guards_seen: bool,
}

impl Guard {
    pub(crate) fn new(hosts: &[String], token: String, guards_seen: bool) -> Self {
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Self { hosts, token, guards_seen }
    }

    /// Refuses a request by its head.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), Problem> {
        let headers = &head.headers;
        let host = self.host(head)?;
        check_codings(headers)?;
        if let Some(origin) = headers.get(header::ORIGIN).filter(|origin| !is_origin_of(origin, host)) {
            let page = String::from_utf8_lossy(origin.as_bytes());
            return Err(from_elsewhere(format!("the request comes from a page of `{page}`")));
        }
        if comes_from_elsewhere(headers) && !is_link_to_page(head) {
            return Err(from_elsewhere("the request comes from a page of another site or port".into()));
        }
        Ok(())
    }

    /// Refuses whoever does not know the token.
    pub(crate) fn check_token(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let value = headers.get(header::AUTHORIZATION).map_or(&b""[..], HeaderValue::as_bytes);
        let token = value.strip_prefix(b"Bearer ").unwrap_or_default();
        if bool::from(token.ct_eq(self.token.as_bytes())) {
            return Ok(());
        }
        let problem =
            if value.is_empty() { "writing needs a token" } else { "the token is not that of this server" };
        Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            problem,
            "send the header `Authorization: Bearer TOKEN`, with the token that was printed at the start",
        ))
    }

    /// The host that a request names, if it is known.
    fn host<'h>(&self, head: &'h Parts) -> Result<&'h str, Problem> {
        let mut values = head.headers.get_all(header::HOST).iter();
        let host = match (values.next().and_then(|host| host.to_str().ok()), values.next()) {
            (Some(host), None) => host,
            _ => {
                let problem = "the request has no header Host, or several";
                return Err(Problem::new(StatusCode::BAD_REQUEST, problem, "send one"));
            }
        };
        // A target such as `http://a.example/` names a host too, and by HTTP it is that one that counts.
        let named = head.uri.authority().map(|authority| authority.as_str());
        let Some(unknown) = named.into_iter().chain([host]).find(|host| !self.knows(host)) else {
            return Ok(named.unwrap_or(host));
        };
        Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            format!("this server is not called `{unknown}`"),
            "use localhost or the address, or start the server with --host NAME",
        ))
    }

    /// Whether a host is one of ours. Addresses are: only names can be made to lead here.
    fn knows(&self, host: &str) -> bool {
        let name = without_port(host);
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        address.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => {
            // What is left of an IPv6 address without brackets is no host.
            if name.contains(':') && !name.ends_with(']') { host } else { name }
        }
        _ => host,
    }
}

/// Whether an origin is that of the server as the request names it. A proxy may have added TLS.
fn is_origin_of(origin: &HeaderValue, host: &str) -> bool {
    let origin = origin.to_str().unwrap_or_default();
    let named = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    named.is_some_and(|named| named.eq_ignore_ascii_case(host))
}

fn from_elsewhere(problem: String) -> Problem {
    let remedy =
        "open the page of this server, or send requests from no page: without Origin and Sec-Fetch-Site";
    Problem::new(StatusCode::FORBIDDEN, problem, remedy)
}

/// Whether a browser says that neither a page of this server nor the person themselves asks. Pages of other ports are another's, although
/// browsers count them as the same site.
fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    let sites = headers.get_all("sec-fetch-site");
    sites.iter().any(|site| site != "same-origin" && site != "none")
}

/// Whether somebody follows a link, and to what costs little: nothing of the API.
fn is_link_to_page(head: &Parts) -> bool {
    let is = |name: &str, value: &str| head.headers.get(name).is_some_and(|found| found == value);
    head.method == Method::GET
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
        && !head.uri.path().starts_with("/v1/")
}

/// Refuses bodies that would have to be unpacked. They would be taken for text.
fn check_codings(headers: &HeaderMap) -> Result<(), Problem> {
    let other = |name, known: &str| {
        let mut values = headers.get_all(name).iter();
        values.find(|value| !value.as_bytes().trim_ascii().eq_ignore_ascii_case(known.as_bytes()))
    };
    let problem = |status, value: &HeaderValue| {
        let coding = String::from_utf8_lossy(value.as_bytes());
        let remedy = "send the bytes of the lines as they are, without Content-Encoding; they may be chunked";
        Err(Problem::new(status, format!("the body is sent with the coding `{coding}`"), remedy))
    };
    if let Some(value) = other(header::CONTENT_ENCODING, "identity") {
        return problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, value);
    }
    match other(header::TRANSFER_ENCODING, "chunked") {
        Some(value) => problem(StatusCode::NOT_IMPLEMENTED, value),
        None => Ok(()),
    }
}

/// Adds headers that tell browsers to be careful.
pub(crate) fn protect(response: &mut Response) {
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    let policy = if is_page { PAGE_POLICY.clone() } else { NO_POLICY.clone() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in
        [("cross-origin-resource-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin")]
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn status(host: &str, origin: Option<&str>) -> Option<StatusCode> {
        let guard = Guard::new(&["Crawl.internal".into()], "secret".into(), false);
        let mut request = Request::builder().header(header::HOST, host);
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        let (head, ()) = request.body(()).ok()?.into_parts();
        guard.check(&head).err().map(|problem| problem.status)
    }

    #[test]
    fn only_known_names_and_addresses_are_answered() {
        for host in
            ["localhost", "localhost:7007", "127.0.0.1:7007", "[::1]:7007", "10.0.0.1", "crawl.INTERNAL:80"]
        {
            assert_eq!(status(host, None), None, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7007",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            ":7007",
            "::1:7007:x",
        ] {
            assert_eq!(status(host, None), Some(StatusCode::MISDIRECTED_REQUEST), "{host}");
        }
    }

    #[test]
    fn pages_of_others_are_refused() {
        assert_eq!(status("localhost:7007", Some("http://localhost:7007")), None);
        assert_eq!(status("crawl.internal", Some("https://crawl.internal")), None);
        for origin in ["http://evil.example", "null", "http://localhost:7008", "http://localhost", "file://"]
        {
            assert_eq!(status("localhost:7007", Some(origin)), Some(StatusCode::FORBIDDEN), "{origin}");
        }
    }

    #[test]
    fn a_token_must_be_the_whole_token() {
        let guard = Guard::new(&[], "secret".into(), false);
        let is_right = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            guard.check_token(&headers).is_ok()
        };
        assert!(is_right("Bearer secret"));
        for wrong in ["Bearer secre", "Bearer secrets", "Bearer ", "secret", "Basic secret", "Bearer SECRET"]
        {
            assert!(!is_right(wrong), "{wrong}");
        }
        assert!(guard.check_token(&HeaderMap::new()).is_err());
    }
}
