"""Token forms of monitoring, databases, identity, work tools, social networks and further services."""

from __future__ import annotations

from hardwon.scrub.rule import Rule
from hardwon.scrub.shapes import is_aws_secret, is_key, named, token

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


# Further services whose tokens have a form of their own.


def _all(*rows: tuple[str, str, str] | tuple[str, str, str, str]) -> tuple[Rule, ...]:
    """(kind, whose, form) of each, and its keywords where the form does not begin with one; none inside a word."""
    return tuple(token(kind, about, form, *"".join(names).split(), edge="U") for kind, about, form, *names in rows)


_BUILDING = _all(
    ("arcjet-key", "Arcjet key", "ajkey_<L>{26}"),
    ("blockprotocol-key", "Block Protocol API key", rf"b10ck5\.<H>{{32}}\.{_UUID}"),
    ("calcom-key", "Cal.com API key", "cal_live_<A>{32}"),
    ("deno-token", "Deno Deploy token", "dd[opw]_<A>{36}(?!<A>)", "ddo_ ddp_ ddw_"),
    ("dependencytrack-key", "Dependency-Track API key", "odt_(?:<A>{8}_)?<A>{32,}", "odt_"),
    ("devcycle-key", "DevCycle SDK key", "dvc_(?:server|client|mobile)_<A>{10,}(?:_<A>{16,})?", "dvc_"),
    ("docker-swarm-key", "Docker Swarm join token", "SWMTKN-1-<L>{40,}-<L>{20,}", "SWMTKN-"),
    ("docker-swarm-key", "Docker Swarm unlock key", "SWMKEY-1-<B>{40,}", "SWMKEY-"),
    ("flagsmith-key", "Flagsmith server key", r"ser\.<A>{22}(?!<A>)"),
    ("ionic-token", "Ionic token", "ion_<A>{42}(?!<A>)"),
    ("jsr-token", "JSR token", "jsr[dp]_<A>{36,}", "jsrd_ jsrp_"),
    ("localstack-token", "LocalStack auth token", r"ls-[A-Za-z]{8}-\d{4}-\d{4}-\d{4}-<A>{12,}", "ls-"),
    ("mergify-key", "Mergify application key", "mka_<A>{60,}"),
    ("openvsx-token", "Open VSX token", f"ovsxat_{_UUID}"),
    ("pyx-token", "pyx publishing token", "tp-pyx-<A>{40,}"),
    ("stackhawk-key", "StackHawk API key", r"hawk\.<U>{20}\.<U>{20}"),
    ("thunderstore-token", "Thunderstore token", "tss_<A>{40,}"),
    ("valtown-token", "Val Town token", "vtwn_<A>{24,}"),
    ("wakatime-key", "WakaTime API key", f"waka_{_UUID}"),
    ("workato-token", "Workato token", "wrka[a-z]{2,6}-<U>{40,}", "wrka"),
    ("zuplo-key", "Zuplo API key", "zpka_<L>{32}_<H>{8}"),
)

_RUNNING = _all(
    ("aikido-key", "Aikido key", "AIK_<A>{60,}"),
    ("alibaba-token", "Alibaba Cloud temporary key id", r"STS\.N<A>{24,}"),
    ("appsync-key", "AWS AppSync API key", "da2-<L>{26}(?!<A>)"),
    ("cockroach-key", "CockroachDB Cloud API key", "CCDB1_<A>{22}_<A>{40}"),
    ("fauna-key", "Fauna key", "fn[AE]<U>{37,40}(?!<U>)", "fnA fnE"),
    ("gcs-key-id", "Google Cloud Storage HMAC key id", "GOOG(?:1E<C>{56}|<C>{20})(?!<A>)", "GOOG"),
    ("google-key", "Google API key of the newer form", r"AQ\.Ab8<U>{40,}"),
    ("jdcloud-key", "JD Cloud access key", "JDC_<C>{25}(?!<A>)"),
    ("kolide-key", "Kolide API key", r"k2sk_v\d_<A>{20,}", "k2sk_"),
    ("pangea-token", "Pangea token", "pts_<L>{32}(?!<A>)"),
    ("pixie-key", "Pixie key", f"px-(?:api|dep)-{_UUID}", "px-"),
    ("rootly-key", "Rootly API key", "rootly_<H>{60,}"),
    ("snowflake-token", "Snowflake session token", r"ver:\d-hint:\d{4,}-ETMsDg[A-Za-z0-9+/=]{40,}", "-hint:"),
    ("ubidots-token", "Ubidots token", "BBFF-<A>{30}(?!<A>)"),
    ("volcengine-key-id", "Volcano Engine access key id", "AKLT<A>{40,}"),
    ("xata-key", "Xata API key", "xau_<A>{40,}"),
    ("yandex-token", "Yandex OAuth token", "y0_<U>{50,}"),
)

_SELLING = _all(
    ("checkout-key", "Checkout.com secret key", f"sk_(?:test_)?{_UUID}", "sk_"),
    ("ebay-secret", "eBay client secret", "(?:PRD|SBX)-<H>{12}-<H>{4}-<H>{4}-<H>{4}-<H>{4}(?!<A>)", "PRD- SBX-"),
    ("lightspeed-token", "Lightspeed token", "lsxs_[ap]t_<A>{24,}", "lsxs_"),
    (
        "mercury-token",
        "Mercury API token",
        "secret-token:mercury_[a-z]{4,12}_<A>{3,}_<A>{20,}(?:_yrucrem)?",
        "secret-token:mercury_",
    ),
    ("midtrans-key", "Midtrans server key", "(?:SB-)?Mid-server-<U>{20,}", "Mid-server-"),
    ("paddle-key", "Paddle API key", "pdl_(?:live|sdbx)_apikey_<L>{26}_<A>{22}_<A>{3}", "pdl_"),
    ("persona-key", "Persona API key", f"persona_(?:production|sandbox)_{_UUID}", "persona_"),
    ("polar-token", "Polar token", "polar_[a-z]{2,4}_<A>{40,}", "polar_"),
    ("quicknode-key", "QuickNode API key", "QN_<H>{32}(?!<A>)"),
    ("ramp-secret", "Ramp client secret", "ramp_(?:sec|id)_<A>{36,}", "ramp_sec_ ramp_id_"),
    ("robinhood-key", "Robinhood API key", f"rh-api-{_UUID}"),
    ("woocommerce-key", "WooCommerce key or secret", "c[ks]_<H>{40}(?!<A>)", "ck_ cs_"),
)

_TALKING = _all(
    ("discord-token", "Discord token of an account with two factors", r"mfa\.<U>{80,}"),
    ("mailersend-token", "MailerSend token", r"mlsn\.<H>{60,}"),
    ("nylas-key", "Nylas API key", r"nyk_v\d_<A>{60,}", "nyk_v"),
    (
        "onfido-token",
        "Onfido API token",
        r"api_(?:live|sandbox)(?:_[a-z]{2})?\.<U>{11}\.<U>{32}(?!<U>)",
        "api_live api_sandbox",
    ),
    ("pagerduty-key", "PagerDuty API key", rf"pd[a-z]{{2}}\+_0X<C>{{6}}_{_UUID}", "+_0X"),
    ("teamwork-token", "Teamwork token", r"tkn\.v1_<A>{60,}={0,2}"),
    ("telnyx-key", "Telnyx API key", "KEY0<X>{30,34}_<A>{22}(?!<A>)"),
    ("zoho-token", "Zoho OAuth token", r"1000\.<H>{32}\.<H>{32}(?!<A>)"),
)

_THINKING = _all(
    ("alchemy-key", "Alchemy auth token", "alcht_<A>{30,}"),
    ("browserbase-key", "Browserbase API key", "bb_(?:live|test)_<U>{24,}", "bb_live_ bb_test_"),
    ("cartesia-key", "Cartesia API key", "sk_car_<A>{20,}"),
    ("coze-token", "Coze token", "pat_<A>{60,}"),
    ("friendli-token", "Friendli token", "flp_<A>{44,}"),
    ("helicone-key", "Helicone API key", "sk-helicone-<A>{7}-<A>{7}-<A>{7}-<A>{7}"),
    ("langsmith-key", "LangSmith API key of the older form", "ls__<H>{32}(?!<A>)"),
    ("lichess-token", "Lichess token", "lip_<A>{20}(?!<A>)"),
    ("locationiq-key", "LocationIQ key", r"pk\.<H>{32}(?!<A>)"),
    ("nightfall-key", "Nightfall API key", "NF-<A>{32}(?!<A>)"),
    ("retool-key", "Retool API key", "retool_01<L>{30,}"),
    ("samsara-token", "Samsara API token", "samsara_api_<A>{28,}"),
    ("segment-token", "Segment public API token", "sgp_<A>{64}(?!<A>)"),
    ("sindri-key", "Sindri API key", "sindri_<A>{32}_<A>{4}"),
    ("statsig-key", "Statsig server secret or console key", "(?:secret|console)-<A>{42,}", "secret- console-"),
    ("unkey-key", "Unkey root key", "unkey_<A>{20,}"),
)

_NAMELIKE = (
    token("composio-key", "Composio API key", "ak_<U>{20}(?!<U>)", accepts=is_key, edge="U"),
    token("composio-key", "Composio consumer API key", "ck_<U>{20}(?!<U>)", accepts=is_key, edge="U"),
)

_FRAMEWORKS = (
    token("sanctum-token", "Laravel Sanctum token", r"\d{1,8}\|<A>{40,48}(?!<A>)", "|", accepts=is_aws_secret, edge=""),
)

SERVICES = (*_BUILDING, *_RUNNING, *_SELLING, *_TALKING, *_THINKING, *_NAMELIKE, *_FRAMEWORKS)
