"""Monitoring, databases, identity, work tools and social networks."""

from __future__ import annotations

from hardwon.scrub.rules.form import named, token

_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"

_MONITORING = (
    token("sentry-token", "Sentry organization token", r"sntrys_eyJ[A-Za-z0-9+/=_-]{40,}"),
    token("sentry-token", "Sentry user token", "sntryu_<H>{60,}"),
    named("sentry-token", "Sentry token of the older form", "sentry", "<H>{64}"),
    token(
        "sentry-dsn",
        "Sentry DSN key",
        r"://(?P<secret><H>{32})(?::<H>{32})?@[a-z0-9.-]{1,80}/\d",
        "://",
        edge="",
        probe=r"://[0-9a-f]{32}",
    ),
    token(
        "newrelic-key",
        "New Relic key",
        "NR(?:AK|AA|RA|II|IQ|SP|BR|JS|AL)-<U>{19,}",
        *(f"NR{of}-" for of in "AK AA RA II IQ SP BR JS AL".split()),
    ),
    token("newrelic-key", "New Relic licence key", "NRAL(?<=<L>{6}<H>{30}NRAL)(?!<A>)", edge="", before=36),
    named("newrelic-key", "New Relic key of the older form", "newrelic new_relic new-relic", "(?:<H>{40}|<A>{64})"),
    named("datadog-key", "Datadog API or application key", "datadog dd_api dd_app ddog", "(?:<H>{40}|<H>{32})"),
    token("grafana-token", "Grafana service account token", "glsa_<A>{28,}_<J>{8}", edge=""),
    token("grafana-token", "Grafana Cloud token", r"glc_[A-Za-z0-9+/]{32,}={0,3}"),
    token("grafana-token", "Grafana API key", r"eyJrIjoi<U>{60,}={0,3}"),
    token(
        "honeycomb-key",
        "Honeycomb key",
        "hc[abx][a-z]?[im]k_<L>{50,}",
        "hcaik_",
        "hcbik_",
        "hcxik_",
        "hcamk_",
        "hcxmk_",
    ),
    named("honeycomb-key", "Honeycomb key of the older form", "honeycomb", "<A>{22,32}"),
    token("posthog-key", "PostHog key", "ph[xcsr]_<A>{36,}", "phx_", "phc_", "phs_", "phr_"),
    token("elastic-key", "Elastic Cloud key", "essu_[A-Za-z0-9+/=]{30,}"),
    token("dynatrace-token", "Dynatrace token", r"dt0[a-z]\d\d\.<A>{8,}\.<A>{60,}", "dt0"),
    named("rollbar-token", "Rollbar token", "rollbar", "<H>{32}"),
    named("bugsnag-key", "Bugsnag key", "bugsnag", "<H>{32}"),
    named("mixpanel-token", "Mixpanel secret", "mixpanel", "<H>{32}"),
    named("amplitude-key", "Amplitude key", "amplitude", "<H>{32}"),
    named("segment-key", "Segment write key", "segment", "<A>{32}"),
    named("splunk-token", "Splunk HEC token", "splunk", _UUID),
    named("sumologic-key", "Sumo Logic access key", "sumologic sumo_logic sumo_access", "<A>{64}"),
    named("logdna-key", "LogDNA ingestion key", "logdna mezmo", "<H>{32}"),
    named("pagerduty-key", "PagerDuty key", "pagerduty pager_duty pd_api", "(?:<H>{32}|<U>{20})"),
    named("opsgenie-key", "Opsgenie API key", "opsgenie", _UUID),
)

_DATA = (
    token(
        "databricks-token",
        "Databricks token",
        "d(?:api|ose|kea|sapi)<H>{32}(?:-\\d)?(?!<A>)",
        *(f"d{of}" for of in "api ose kea sapi".split()),
    ),
    token("supabase-key", "Supabase access token", "sbp_<H>{36,}"),
    token("supabase-key", "Supabase secret key", "sb_secret_<U>{20,}"),
    token(
        "planetscale-secret",
        "PlanetScale secret",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}",
        "pscale_",
        solid=False,
    ),
    token("neon-key", "Neon API key", "napi_<L>{50,}"),
    token("neon-password", "Neon database password", "npg_<A>{16,}(?!_)"),
    token("mongodb-secret", "MongoDB Atlas service account secret", "mdb_sa_sk_<U>{36,}"),
    token("confluent-secret", "Confluent Cloud secret", "cflt[A-Za-z0-9+/]{56,}"),
    token("clickhouse-key", "ClickHouse Cloud key", "4b1d<A>{38}(?!<A>)"),
    token("tinybird-token", "Tinybird token", r"p\.eyJ<U>{20,}\.<U>{20,}"),
    token("airtable-token", "Airtable access token", r"pat<A>{14}\.<H>{60,}", "pat"),
    named("algolia-key", "Algolia API key", "algolia", "<H>{32}"),
    token("mapbox-token", "Mapbox token", r"[spt]k\.eyJ<U>{40,}\.<U>{16,}", "sk.eyJ", "pk.eyJ", "tk.eyJ", edge=""),
    named("upstash-token", "Upstash token", "upstash", "<U>{36,80}"),
    named("cloudinary-secret", "Cloudinary API secret", "cloudinary", "<U>{27}"),
    token("contentful-token", "Contentful management token", "CFPAT-<U>{40,}", edge=""),
    named("contentful-token", "Contentful delivery token", "contentful", "<U>{43}"),
    token("aiven-token", "Aiven token", "aiv(?:nsp|env)<A>{40,}", "aivn", "aiven"),
)

_IDENTITY = (
    named("okta-token", "Okta API token", "okta", "00<U>{40}"),
    named("auth0-secret", "Auth0 client secret", "auth0", "<U>{64}"),
    token("stytch-secret", "Stytch secret", "secret-(?:live|test)-<U>{30,}=?", "secret-live-", "secret-test-"),
    token(
        "authress-key",
        "Authress access key",
        r"(?:sc|ext|scauth|authress)_<L>{5,30}\.<L>{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
        ".acc",
        edge="",
    ),
    token("jwt", "JSON web token", r"eyJ<U>{17,}\.<U>{12,}(?:\.<U>*+){0,3}+", edge="U"),
    token("jwt", "JSON web token of an unusual header", r"ey<A>{17,}\.ey[\w/\\-]{18,}+(?:\.<U>*+)?", ".ey"),
    token("jwt", "JSON web token, encoded once more", "ZXlK[A-Za-z0-9+/]{80,}={0,2}"),
)

_SESSIONS = (
    named(
        "cookie",
        "Session cookie of PHP, Java or ASP.NET",
        "phpsessid jsessionid asp.net_sessionid _gitlab_session",
        "<A>{20,64}",
    ),
    named("cookie", "Session cookie of Express", "connect.sid", r"s%3a<U>{32}\.[A-Za-z0-9%+/-]{20,64}"),
)

_WORK = (
    token("notion-token", "Notion integration token", "ntn_<A>{40,}"),
    token("notion-token", "Notion integration secret", "secret_<A>{43}(?!<A>)", edge="U"),
    token("linear-key", "Linear API key", "lin_(?:api|oauth|wh)_<A>{32,}", "lin_api_", "lin_oauth_", "lin_wh_"),
    named("linear-key", "Linear client secret", "linear", "<H>{32}"),
    token("figma-token", "Figma token", "fig(?:d|or|o|u|ur)_<U>{36,}", "figd_", "figor_", "figo_", "figu_", "figur_"),
    token("asana-token", "Asana access token", r"[012]/\d{13,}(?:/\d{13,})?:<H>{32}(?!<A>)", "1/", "2/", "0/", edge=""),
    named("asana-secret", "Asana client secret", "asana", "<A>{32}"),
    token("clickup-token", "ClickUp API token", r"pk_\d{4,}_<C>{32}(?!<A>)"),
    token("trello-token", "Trello token", "ATTA<H>{60,}"),
    named("trello-token", "Trello key or token of the older form", "trello", "(?:<H>{64}|<H>{32})"),
    token("hubspot-token", "HubSpot private app token", f"pat-(?:na|eu|ap)\\d-{_UUID}", "pat-na", "pat-eu", "pat-ap"),
    named("hubspot-token", "HubSpot API key of the older form", "hubspot", _UUID),
    token("salesforce-token", "Salesforce session id", r"00D<A>{12,15}!<U>[A-Za-z0-9._]{60,}", "00D"),
    named("zendesk-token", "Zendesk token", "zendesk", "<A>{40}"),
    named("freshdesk-key", "Freshdesk or Freshbooks key", "freshdesk freshbooks freshservice", "(?:<H>{64}|<A>{20})"),
    token("typeform-token", "Typeform token", r"tfp_[A-Za-z0-9_.=-]{44,}", solid=False),
    token("frameio-token", "Frame.io token", "fio-u-<E>{50,}"),
    named("beamer-token", "Beamer API token", "beamer", "b_<U>{44}"),
    token("maxmind-key", "MaxMind licence key", "_mmk(?<=_<A>{29}_mmk)(?!<A>)", edge="", before=36),
    named("shodan-key", "Shodan or VirusTotal key", "shodan virustotal", "(?:<A>{64}|<A>{32})"),
    token("dropbox-token", "Dropbox access token", r"sl\.(?:u\.)?<E>{100,}"),
    named("box-token", "Box developer token", "box_dev box_token box_client boxsdk", "<A>{32}"),
    named("adobe-secret", "Adobe client secret", "adobe", "(?:p8e-<A>{32}|<H>{32})"),
    token("adobe-secret", "Adobe client secret", "p8e-<A>{32}(?!<A>)", edge="U"),
    named("adafruit-key", "Adafruit IO key", "adafruit", "<U>{32}"),
    token("adafruit-key", "Adafruit IO key", "aio_<A>{28}(?!<A>)"),
    named("lastpass-secret", "LastPass or KeePass secret", "lastpass keepass", "<A>{20,64}"),
)

_SOCIAL = (
    token("facebook-token", "Facebook access token", "EAA[A-Z]<A>{60,}", "EAA"),
    token("facebook-token", "Facebook app access token", r"\|(?<=\d{15}\|)<U>{27}(?!<U>)", "|", edge="", before=15),
    named("facebook-secret", "Facebook app secret", "facebook fb_app fb_secret", "<H>{32}"),
    token("instagram-token", "Instagram access token", "IG(?:QV|QW|AA)<U>{60,}", "IGQ", "IGAA"),
    token("twitter-token", "Twitter bearer token", "A" * 18 + "A{0,6}<A>[A-Za-z0-9%]{60,}", edge="A"),
    named(
        "twitter-secret",
        "Twitter key, secret or token",
        "twitter",
        r"(?:\d{8,20}-<A>{40}|<A>{50}|<A>{45}|<A>{35}|<A>{25})",
    ),
    named("twitch-token", "Twitch token", "twitch", "<L>{30}"),
    named("spotify-secret", "Spotify client secret", "spotify", "<H>{32}"),
    named("reddit-secret", "Reddit client secret", "reddit", "<U>{27,30}"),
    named("flickr-key", "Flickr key", "flickr", "<H>{32}"),
    named("nytimes-key", "New York Times API key", "nytimes nyt_api", "<A>{32}"),
    named("openweather-key", "OpenWeather key", "openweather owm_", "<H>{32}"),
)

_OTHERS = (
    token("endor-key", "Endor Labs API key", r"endr\+<U>{16,}", solid=False),
    token("settlemint-token", "SettleMint token", "sm_(?:pat|aat|sat)_<A>{16,}", "sm_pat_", "sm_aat_", "sm_sat_"),
    token("pubnub-key", "PubNub secret key", "sec-c-<B>{40,}={0,2}"),
    named("pubnub-key", "PubNub publish or subscribe key", "pubnub", f"(?:pub|sub)-c-{_UUID}"),
    named("meraki-key", "Cisco Meraki API key", "meraki", "<H>{40}"),
    named("gitter-token", "Gitter token", "gitter", "<U>{40}"),
    named("kraken-key", "Kraken API key", "kraken", r"[A-Za-z0-9/=_+-]{80,90}"),
    named("looker-secret", "Looker client secret", "looker", "<A>{20,24}"),
    named("squarespace-token", "Squarespace token", "squarespace", _UUID),
    named("weaviate-key", "Weaviate API key", "weaviate", "<A>{36,40}"),
    named("todoist-token", "Todoist token", "todoist", "<H>{40}"),
    named("consul-token", "Consul or Nomad token", "consul_http nomad_token", _UUID),
)

PRODUCTS = (*_MONITORING, *_DATA, *_IDENTITY, *_SESSIONS, *_WORK, *_SOCIAL, *_OTHERS)
