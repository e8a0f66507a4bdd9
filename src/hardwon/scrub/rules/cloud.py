"""Clouds, hosting and infrastructure."""

from __future__ import annotations

from hardwon.scrub.marks import MARK_ENDS
from hardwon.scrub.rules.form import begins_word, named, place, token
from hardwon.scrub.shapes import is_aws_secret, is_drawn

_FORTY_CHARACTERS = r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"
_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"

_AMAZON = (
    # A capital is rare: searching for it alone is faster than for each of the prefixes.
    token(
        "aws-key-id",
        "AWS access key id",
        rf"A(?=KIA|SIA|BIA|CCA|3T[A-Z0-9]){begins_word('A')}[A-Z0-9]{{19}}(?!<A>)",
        *("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
        edge="",
        accepts=is_drawn,
        probe="A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}",
    ),
    token(
        "aws-secret-key",
        "AWS secret access key beside its id",
        rf"A[KS]IA[A-Z0-9]{{16}}(?:[^A-Za-z0-9+/{MARK_ENDS}]|/ ){{1,12}}{_FORTY_CHARACTERS}",
        *("AKIA", "ASIA"),
        accepts=is_aws_secret,
        edge="",
    ),
    place(
        "aws-secret-key",
        "AWS secret access key after its name",
        r"secret(?:[_ .-]?(?:access|key)){0,2}+(?: \[none\])?"
        rf"[^a-z0-9+/\n{MARK_ENDS}]{{0,11}}[\s\"'=:>,]{_FORTY_CHARACTERS}",
        "secret",
        is_aws_secret,
    ),
    token(
        "aws-session-token",
        "AWS session token",
        r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=%]{100,}",
        "FwoGZXIvYXdz",
        "IQoJb3JpZ2lu",
        edge="",
    ),
    token("aws-mws-key", "Amazon MWS auth token", rf"amzn\.mws\.{_UUID}"),
    token("aws-bedrock-key", "Amazon Bedrock API key", "ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    token("aws-bedrock-key", "Amazon Bedrock short-term API key", r"bedrock-api-key-[A-Za-z0-9+/=]{60,}"),
)

_GOOGLE = (
    token("google-key", "Google API key", "AIza<U>{30,}", edge="U"),
    token("google-token", "Google OAuth access token", r"ya29\.<U>{20,}", edge="U"),
    token("google-client-secret", "Google OAuth client secret", "GOCSPX-<U>{20,}", edge=""),
    token("google-refresh-token", "Google OAuth refresh token", "1//0<U>{30,}"),
    token("firebase-key", "Firebase Cloud Messaging server key", r"AAAA<U>{7}:APA91b<U>{100,}", ":APA91b", edge="U"),
)

_AZURE = (
    token(
        "azure-secret",
        "Azure AD client secret",
        r"Q~(?<=[A-Za-z0-9_~.]{3}\dQ~)[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
        "Q~",
        edge="",
        before=4,
        solid=False,
    ),
    token(
        "azure-storage-key",
        "Azure storage account key",
        r"\+(?:ASt|AMC|ABa)(?<=[A-Za-z0-9+/]{76}\+A..)<B>{5}[AQgw]==",
        "+ASt",
        "+AMC",
        "+ABa",
        edge="",
        before=76,
    ),
    token(
        "azure-cosmos-key", "Azure Cosmos DB key", r"ACDb(?<=[A-Za-z0-9+/]{76}ACDb)<B>{5}[AQgw]==", edge="", before=76
    ),
    token(
        "azure-search-key", "Azure AI Search key", r"AzSe(?<=[A-Za-z0-9]{42}AzSe)[A-D]<A>{5}(?!<A>)", edge="", before=42
    ),
    token(
        "azure-function-key", "Azure Functions key", r"AzFu(?<=[A-Za-z0-9_-]{44}AzFu)<U>{5}[AQgw]==", edge="", before=44
    ),
    token(
        "azure-bus-key",
        "Azure Service Bus, Event Hubs or Relay key",
        r"\+A(?:Sb|Eh|Rm)(?<=[A-Za-z0-9+/]{33}\+A..)<B>{5}=",
        "+ASb",
        "+AEh",
        "+ARm",
        edge="",
        before=33,
    ),
    token("azure-iot-key", "Azure IoT Hub key", r"AIoT(?<=[A-Za-z0-9+/]{33}AIoT)<B>{5}=", edge="", before=33),
    token(
        "azure-cache-key", "Azure Cache for Redis key", r"AzCa(?<=[A-Za-z0-9]{33}AzCa)[A-P]<A>{5}=", edge="", before=33
    ),
    token(
        "azure-registry-key",
        "Azure Container Registry password",
        r"\+ACR(?<=[A-Za-z0-9+/]{42}\+ACR)[A-D]<A>{5}(?!<A>)",
        edge="",
        before=42,
    ),
    token(
        "azure-key",
        "Azure AI services or DevOps key",
        r"JQQJ99(?<=[A-Za-z0-9]{52}JQQJ99)<A>{26}(?!<A>)",
        edge="",
        before=52,
    ),
    token(
        "azure-signature",
        "Azure shared access signature",
        r"sig=(?<=[?&]sig=)(?P<secret>[A-Za-z0-9+/%]{30,}=?)",
        "sig=",
        edge="",
        solid=False,
    ),
)

_HOSTS = (
    token("alibaba-key-id", "Alibaba Cloud access key id", "LTAI<A>{16,20}(?!<A>)"),
    token("tencent-key-id", "Tencent Cloud secret id", "AKID<A>{32}(?!<A>)"),
    token("yandex-key", "Yandex Cloud API key", "AQVN<U>{34,}"),
    token("yandex-token", "Yandex Cloud IAM token", r"t1\.<U>{4,}={0,2}\.<U>{60,}={0,2}"),
    token("scaleway-key-id", "Scaleway access key", "SCW<C>{17}(?!<A>)"),
    named("scaleway-key", "Scaleway secret key", "scaleway scw_secret", _UUID),
    token("digitalocean-token", "DigitalOcean token", "do[opr]_v1_<H>{40,}", "dop_v1_", "doo_v1_", "dor_v1_", edge=""),
    named("digitalocean-token", "DigitalOcean Spaces key", "spaces_secret spaces_access digitalocean", "<A>{40,64}"),
    token("heroku-key", "Heroku API key", "HRKU-<U>{30,}"),
    named("heroku-key", "Heroku API key of the older form", "heroku", _UUID),
    token("fly-token", "Fly.io access token", "fo1_<U>{40,}"),
    token(
        "fly-token", "Fly.io macaroon", r"fm[12][ar]?_[A-Za-z0-9+/=]{50,}", "fm1_", "fm2_", "fm1r_", "fm1a_", "fm2r_"
    ),
    token("render-key", "Render API key", "rnd_<A>{28,}"),
    named("railway-token", "Railway token", "railway", _UUID),
    token("vercel-token", "Vercel token", "vc[pciark]_<A>{24,}", *(f"vc{letter}_" for letter in "pciark")),
    token("vercel-token", "Vercel Blob token", "vercel_blob_rw_<A>{10,}_<A>{16,}"),
    named("vercel-token", "Vercel token of the older form", "vercel", "<A>{24}"),
    token("netlify-token", "Netlify token", "nf[pcobu]_<A>{32,}", *(f"nf{letter}_" for letter in "pcobu")),
    named("netlify-token", "Netlify token of the older form", "netlify", "<U>{40,46}"),
    token("cloudflare-key", "Cloudflare Origin CA key", r"v1\.0-<H>{24}-<H>{140,}"),
    token("cloudflare-token", "Cloudflare API token", "cf(?:k|ut|at)_<A>{36,}", "cfk_", "cfut_", "cfat_"),
    named(
        "cloudflare-token", "Cloudflare API token or key of the older form", "cloudflare cf_api", "(?:<H>{37}|<U>{40})"
    ),
    token("fastly-token", "Fastly API token", "fastly_<U>{32,}"),
    named("fastly-token", "Fastly API token", "fastly", "<U>{32}"),
    named("linode-token", "Linode access token", "linode", "<H>{64}"),
    named("vultr-key", "Vultr API key", "vultr", "<A>{36}"),
    named("hetzner-token", "Hetzner Cloud token", "hcloud hetzner", "<A>{64}"),
    named("ibm-key", "IBM Cloud API key", "ibm softlayer", "<U>{44}"),
    named("oracle-token", "Oracle Cloud auth token", "oci_ oracle_cloud", "<A>{20,64}"),
    token("openshift-token", "OpenShift user token", "sha256~<U>{40,}"),
    token(
        "tailscale-key",
        "Tailscale key",
        "tskey-(?:auth|api|client|scim|webhook|reusable)-<A>{8,}(?:-<A>{10,})?",
        "tskey-",
    ),
    token("defined-key", "Defined Networking API key", "dnkey-<E>{20,}"),
    token("scalingo-token", "Scalingo API token", "tk-us-<U>{44,}"),
    named("ngrok-token", "ngrok auth token", "ngrok", "<A>{20,32}_<A>{16,32}"),
)

CLOUD = (*_AMAZON, *_GOOGLE, *_AZURE, *_HOSTS)
