//! Who may ask: the browser that was given the address, and nobody else.
//!
//! Every request must name the token, 128 random bits, in its path. That keeps other people of the machine out, and
//! other pages that guess the port. A page elsewhere that learned the address in some way is kept out by the
//! browser's word: the host must be ours, so that no name of somebody else's that leads here (DNS rebinding)
//! is good enough, and so must the origin, where the browser tells it. Answers may be framed, cached and sniffed by
//! nobody, and the page may load and call nothing but this server.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What the page may do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The address of the server and its token.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Door {
    /// One with a new token.
    pub(crate) fn new(address: SocketAddr) -> anyhow::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
        Ok(Self { address, token: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// Where the page is, for people.
    pub(crate) fn url(&self) -> String {
        let mut shown = self.address;
        if shown.ip().is_unspecified() {
            shown.set_ip(IpAddr::from([127, 0, 0, 1]));
        }
        format!("http://{shown}/{}/", self.token)
    }

    /// Whether a request may pass; otherwise what it gets.
    fn check(&self, path: &str, headers: &HeaderMap) -> Result<(), StatusCode> {
        let text = |name| headers.get(name).map(HeaderValue::to_str);
        match text(header::HOST) {
            Some(Ok(host)) if self.is_own(host) => {}
            _ => return Err(StatusCode::MISDIRECTED_REQUEST),
        }
        match text(header::ORIGIN) {
            None => {}
            Some(Ok(origin))
                if origin.strip_prefix("http://").is_some_and(|own| self.is_own(own)) => {}
            _ => return Err(StatusCode::FORBIDDEN),
        }
        // Browsers that say whence a request comes: a link from elsewhere may open the page, not call it.
        let is_page = path.trim_start_matches('/').trim_end_matches('/') == self.token;
        if let Some(Ok("cross-site" | "same-site")) =
            text(header::HeaderName::from_static("sec-fetch-site"))
            && !is_page
        {
            return Err(StatusCode::FORBIDDEN);
        }
        let given = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        if is_equal(given.as_bytes(), self.token.as_bytes()) {
            Ok(())
        } else {
            Err(StatusCode::NOT_FOUND)
        }
    }

    /// Whether a host and port are this server's. Names could lead here from anywhere; addresses cannot.
    fn is_own(&self, host: &str) -> bool {
        let port = self.address.port();
        if host == format!("localhost:{port}") {
            return self.address.ip().is_loopback() || self.address.ip().is_unspecified();
        }
        let Ok(named) = host.parse::<SocketAddr>() else { return false };
        named.port() == port
            && (named.ip() == self.address.ip() || self.address.ip().is_unspecified())
    }
}

/// Compares in a time that does not tell where the difference is.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b));
    one.len() == other.len() && differs == 0
}

/// Lets a request pass or not, and marks every answer.
pub(crate) async fn guard(State(door): State<Door>, request: Request, next: Next) -> Response {
    let mut response = match door.check(request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // The token is in the address, which must not go anywhere.
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(door: &Door, path: &str, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        door.check(path, &map).map_or_else(|code| code.as_u16(), |()| 200)
    }

    #[test]
    fn only_the_browser_with_the_address_comes_in() {
        let door = Door::new("127.0.0.1:8123".parse().unwrap()).unwrap();
        assert_eq!(door.token.len(), 32);
        assert_ne!(door.token, Door::new(door.address).unwrap().token);
        let path = format!("/{}/api/state", door.token);
        let host = ("host", "127.0.0.1:8123");
        assert_eq!(asked(&door, &path, &[host]), 200);
        assert_eq!(
            asked(&door, &path, &[("host", "localhost:8123"), ("origin", "http://localhost:8123")]),
            200
        );
        for other in
            ["evil.example:8123", "127.0.0.1:8124", "127.0.0.1", "10.0.0.1:8123", "", "localhost"]
        {
            assert_eq!(asked(&door, &path, &[("host", other)]), 421, "{other}");
        }
        assert_eq!(asked(&door, &path, &[]), 421);
        for other in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:8123",
            "http://127.0.0.1:81",
            "http://localhost",
        ] {
            assert_eq!(asked(&door, &path, &[host, ("origin", other)]), 403, "{other}");
        }
        assert_eq!(asked(&door, &path, &[host, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(
            asked(&door, &format!("/{}/", door.token), &[host, ("sec-fetch-site", "cross-site")]),
            200
        );
        for other in ["/", "", "/api/state", "/0123/api/state", "//x"] {
            assert_eq!(asked(&door, other, &[host]), 404, "{other}");
        }
        assert_eq!(asked(&door, &format!("/{}x/", door.token), &[host]), 404);
        assert_eq!(asked(&door, &format!("/{}/", &door.token[1..]), &[host]), 404);
    }
}
