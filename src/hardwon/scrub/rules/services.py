"""Further services whose tokens have a form of their own."""

from __future__ import annotations

from hardwon.scrub.rule import Rule
from hardwon.scrub.rules.form import token
from hardwon.scrub.shapes import is_aws_secret, is_key

_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"


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
