"""Token forms that services have published: code hosting, cloud, messages, models, money, and others."""

from __future__ import annotations

from hardwon import home
from hardwon.scrub.shapes import begins_word, is_api_key, is_aws_secret, is_drawn, is_real, named, place, token
from hardwon.text.normalise import MARK_ENDS

# Code hosting, packages, builds, and what keeps their secrets.

_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"
_GITLAB = "pat oas dt rt rtr cbt ptt ft imt agent wt soat ffct".split()

_HOSTING = (
    token("hardwon-token", "Hardwon service token", "hardwon_<H>{12}_<U>{43}", edge="U"),
    token("hardwon-token", "Hardwon service token", f"{home.FORMER_NAME}_<H>{{12}}_<U>{{43}}", edge="U"),
    token("github-token", "GitHub token", "gh[pousr]_<A>{20,}", *(f"gh{letter}_" for letter in "pousr"), edge=""),
    token("github-token", "GitHub fine-grained token", "github_pat_[A-Za-z0-9_]{20,}", edge=""),
    token(
        "gitlab-token",
        "GitLab token",
        rf"gl(?:{'|'.join(_GITLAB)})-<U>{{20,}}(?:\.<U>{{2,}})*+",
        *(f"gl{name}-" for name in _GITLAB),
        edge="",
    ),
    token("gitlab-token", "GitLab runner registration token", "GR1348941<U>{20,}", edge=""),
    token("bitbucket-token", "Bitbucket app password", "ATBB<A>{24,}"),
    token("bitbucket-token", "Bitbucket repository token", "ATCTT3<U>{60,}(?:=<C>{8})?"),
    named("bitbucket-token", "Bitbucket client secret", "bitbucket", "<U>{32,64}"),
    token("atlassian-token", "Atlassian API token", "ATATT3<U>{60,}(?:=<C>{8})?"),
    named("atlassian-token", "Atlassian API token of the older form", "atlassian jira confluence", "<A>{20,24}"),
    named("gitea-token", "Gitea or Forgejo token", "gitea forgejo codeberg", "<H>{40}"),
    token("sourcegraph-token", "Sourcegraph token", "sgp_(?:(?:<J>{16}|local)_)?<J>{40,}"),
    token("sourcegraph-token", "Sourcegraph licence or dotcom token", "(?:slk|sgd)_<H>{40,}", "slk_", "sgd_", edge=""),
)

_PACKAGES = (
    token("npm-token", "npm access token", "npm_<A>{30,}", edge=""),
    token("pypi-token", "PyPI upload token", "pypi-AgE<U>{20,}", edge=""),
    token("rubygems-token", "RubyGems API key", "rubygems_<H>{40,}"),
    token("nuget-key", "NuGet API key", "oy2<L>{43}(?!<A>)"),
    token("crates-token", "Crates registry API token", "cio<A>{32}(?!<A>)"),
    token("clojars-token", "Clojars deploy token", "CLOJARS_<L>{50,}"),
    token("packagist-token", "Packagist token", "packagist_[a-z]{3}_<H>{60,}"),
    token("jfrog-key", "JFrog Artifactory API key", "AKCp<A>{60,}"),
    token("jfrog-key", "JFrog Artifactory reference token", "cmVmd<A>{56,}"),
    named("jfrog-key", "JFrog Artifactory key", "artifactory jfrog", "(?:<A>{64,73}|(?:akc|ap)<A>{17,62})"),
    token("docker-token", "Docker Hub token", "dckr_[po]at_<U>{20,}", "dckr_pat_", "dckr_oat_", edge=""),
    token("rapidapi-key", "RapidAPI key", "msh(?<=<L>{10}msh)<L>{15}p1<L>{6}jsn<L>{12}(?!<A>)", edge="", before=10),
)

_BUILDS = (
    token("sonar-token", "SonarQube token", "sq[upa]_<L>{36,}", "squ_", "sqp_", "sqa_"),
    named("sonar-token", "SonarQube token of the older form", "sonar", "<U>{40}"),
    token(
        "buildkite-token",
        "Buildkite token",
        "bk(?:ua|ct|aj|pt|at|st)_<A>{30,}",
        *(f"bk{of}_" for of in "ua ct aj pt at st".split()),
    ),
    token("circleci-token", "CircleCI token", "CCIP(?:AT|RJ)_<A>{16,}_<H>{36,}", "CCIPAT_", "CCIPRJ_", edge=""),
    named("circleci-token", "CircleCI token of the older form", "circleci circle_token circle-token", "<H>{40}"),
    named("travis-token", "Travis CI token", "travis", "<U>{20,24}"),
    named(
        "codeclimate-token",
        "Code Climate token",
        "codeclimate cc_test_reporter",
        "(?:<H>{64}|<H>{40})",
        accepts=is_real,
    ),
    named("codecov-token", "Codecov token", "codecov", f"(?:{_UUID}|<A>{{32}})"),
    named("drone-token", "Drone CI token", "droneci drone_token drone_", "<A>{32}"),
    named("coveralls-token", "Coveralls repository token", "coveralls", "<A>{32,36}"),
    named("appveyor-token", "AppVeyor API token", "appveyor", "<A>{20,24}"),
    token("snyk-token", "Snyk token", r"snyk_[us]at\.<U>{8,}\.<U>{16,}(?:\.<U>{8,})?", "snyk_uat.", "snyk_sat."),
    named("snyk-token", "Snyk token of the older form", "snyk", _UUID),
    token("octopus-key", "Octopus Deploy API key", "API-<C>{26,}(?!<A>)", edge="U"),
    token("harness-key", "Harness API key", r"[ps]at\.<U>{22}\.<A>{24}\.<A>{20}", "pat.", "sat."),
    token("infracost-key", "Infracost API key", "ico-<A>{32}(?!<A>)", edge="U"),
    token("launchdarkly-key", "LaunchDarkly key", f"(?:api|sdk|mob)-{_UUID}", "api-", "sdk-", "mob-", edge=""),
    token("postman-key", "Postman API key", "PMAK-<H>{24}-<H>{30,}", edge=""),
    token("readme-key", "ReadMe API key", "rdme_<L>{60,}"),
    token("intra42-secret", "Intra 42 client secret", "s-s4t2(?:ud|af)-<H>{60,}"),
    token("prefect-key", "Prefect API key", "pn[ub]_<A>{34,}", "pnu_", "pnb_"),
    token("dbt-token", "dbt Cloud token", "dbt[cu]_<U>{30,}", "dbtc_", "dbtu_"),
    token("apify-token", "Apify API token", "apify_api_<A>{30,}"),
)

_KEEPERS = (
    token("vault-token", "HashiCorp Vault token", r"hv[sbr]\.<U>{24,}", "hvs.", "hvb.", "hvr."),
    named("vault-token", "HashiCorp Vault token of the older form", "vault", r"s\.<A>{24}"),
    token(
        "terraform-token",
        "Terraform Cloud token",
        r"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)<E>{50,}",
        ".atlasv1.",
        edge="",
        before=14,
    ),
    token("pulumi-token", "Pulumi access token", "pul-<H>{40,}", edge="U"),
    token(
        "doppler-token",
        "Doppler token",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,16}\.)?<A>{40,}",
        "dp.pt.",
        "dp.st.",
        "dp.ct.",
        "dp.sa.",
        "dp.scim.",
        "dp.audit.",
    ),
    token("age-key", "age secret key", "AGE-SECRET-KEY-1<C>{50,}", edge=""),
    token("onepassword-token", "1Password service account token", "ops_eyJ[A-Za-z0-9+/]{200,}={0,3}"),
    token(
        "onepassword-key",
        "1Password secret key",
        "A3-<C>{6}-(?:<C>{11}|<C>{6}-<C>{5})-<C>{5}-<C>{5}-<C>{5}(?!<A>)",
        "A3-",
        edge="U",
    ),
    token("infisical-token", "Infisical service token", r"st\.<H>{24}\.<H>{32}\.<H>{32}"),
)

CODE = (*_HOSTING, *_PACKAGES, *_BUILDS, *_KEEPERS)


# Clouds, hosting and infrastructure.

_FORTY_CHARACTERS = r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"

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
        r"Q~(?<=[A-Za-z0-9_~.]{3}\dQ~)[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-]|\.[A-Za-z0-9_~.-])",
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


# Chat, mail, telephony and the webhooks that write to them.

# A bot token begins with its numeric id in base64, which leaves these beginnings.
_DISCORD = "MT Mj Mz ND NT Nj Nz OD OT".split()

_CHAT = (
    token("slack-token", "Slack token", r"xox[abceoprs][-.][A-Za-z0-9.-]{10,}", "xox", edge="", solid=False),
    token("slack-token", "Slack app-level token", "xapp-[0-9]{1,12}-[A-Za-z0-9/+-]{10,}", edge="", solid=False),
    token(
        "slack-webhook",
        "Slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{10,})",
        "hooks.slack.com/",
        edge="",
    ),
    token(
        "discord-token",
        "Discord bot token",
        rf"(?:{'|'.join(_DISCORD)})<U>{{22,26}}\.<U>{{6}}\.<U>{{27,38}}(?!<U>)",
        *_DISCORD,
        edge="",
    ),
    token(
        "discord-webhook",
        "Discord webhook",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,20}/(?P<secret><U>{50,})",
        "/webhooks/",
        edge="",
    ),
    named("discord-token", "Discord client secret", "discord", "<U>{32}"),
    token("telegram-token", "Telegram bot token", r"\d{5,16}:A<U>{34}(?!<U>)", ":A", edge=""),
    token(
        "teams-webhook",
        "Microsoft Teams webhook",
        r"(?:webhook|outlook)\.office(?:365)?\.com/webhook(?:b2)?/(?P<secret>[A-Za-z0-9@/-]{60,})",
        "webhook.office.com/",
        "outlook.office.com/webhook/",
        "outlook.office365.com/webhook/",
        edge="",
    ),
    token(
        "zapier-webhook",
        "Zapier webhook",
        r"hooks\.zapier\.com/hooks/catch/(?P<secret>\d{4,}/[A-Za-z0-9]{5,})",
        "hooks.zapier.com/",
        edge="",
    ),
    token("make-webhook", "Make webhook", r"hook\.[a-z0-9.]{0,12}make\.com/(?P<secret><L>{24,})", "make.com/", edge=""),
    token(
        "ifttt-webhook",
        "IFTTT webhook",
        r"maker\.ifttt\.com/[^\s\"']{1,80}/key/(?P<secret><U>{16,})",
        "maker.ifttt.com/",
        edge="",
    ),
    named("mattermost-token", "Mattermost token", "mattermost", "<L>{26}"),
)

_MAIL = (
    token("sendgrid-key", "SendGrid API key", r"SG\.<U>{20,32}\.<U>{20,64}", edge="U"),
    token("mailgun-key", "Mailgun private key", "key-<H>{32}(?!<A>)", edge="U"),
    named("mailgun-key", "Mailgun sending key", "mailgun mg_", "<H>{32}-<H>{8}-<H>{8}"),
    token("mailchimp-key", "Mailchimp API key", r"-us(?<=[0-9a-f]{32}-us)\d{1,2}(?!<A>)", edge="", before=32),
    token("mailchimp-key", "Mailchimp Transactional key", "md-<U>{22}(?!<U>)", edge="U"),
    token("brevo-key", "Brevo key", "x(?:keysib|smtpsib)-<H>{60,}-<A>{16}", "xkeysib-", "xsmtpsib-"),
    token("resend-key", "Resend API key", "re_<A>{8}_<A>{20,}"),
    named("postmark-token", "Postmark server token", "postmark", _UUID),
    named("sparkpost-key", "SparkPost API key", "sparkpost", "<H>{40}"),
    named("mailjet-key", "Mailjet key", "mailjet mj_apikey", "<H>{32}"),
    token("klaviyo-key", "Klaviyo private key", "pk_<H>{34}(?!<A>)"),
    token("onesignal-key", "OneSignal key", "os_v2_(?:app|org)_<L>{80,}", "os_v2_"),
    token("intercom-token", "Intercom access token", "dG9rO<B>{50,}={0,2}"),
)

_TELEPHONY = (
    token("twilio-key", "Twilio API key", "SK(?:<J>{32}|<L>{32})(?!<A>)"),
    token("twilio-sid", "Twilio account SID", "AC(?:<J>{32}|<L>{32})(?!<A>)"),
    named("twilio-token", "Twilio auth token", "twilio", "<H>{32}"),
    named("plivo-token", "Plivo auth token", "plivo", "<A>{40}"),
    named("messagebird-key", "MessageBird access key", "messagebird", "<A>{25}"),
    named("pusher-secret", "Pusher secret", "pusher", "<H>{20}"),
    named("sendbird-token", "Sendbird API token", "sendbird", "<H>{40}"),
    named("agora-certificate", "Agora app certificate", "agora", "<H>{32}"),
)

MESSAGES = (*_CHAT, *_MAIL, *_TELEPHONY)


# Model providers and what is built around them.

MODELS = (
    token("anthropic-key", "Anthropic API key or OAuth token", "sk-ant-<U>{16,}", edge=""),
    token("openrouter-key", "OpenRouter API key", "sk-or-<U>{20,}", edge=""),
    token("openai-key", "OpenAI and compatible API key", "sk-<U>{16,}", accepts=is_api_key, edge="U"),
    token("openai-key", "OpenAI session key", "sess-<A>{40}(?!<A>)", edge="U"),
    token("langfuse-key", "Langfuse secret key", f"sk-lf-{_UUID}"),
    token("huggingface-token", "Hugging Face token", "hf_<A>{30,}"),
    token("huggingface-token", "Hugging Face organization token", "api_org_<A>{30,}"),
    token("groq-key", "Groq API key", "gsk_<A>{40,}"),
    token("xai-key", "xAI API key", "xai-<A>{60,}"),
    token("perplexity-key", "Perplexity API key", "pplx-<A>{40,}"),
    token("replicate-token", "Replicate API token", "r8_<A>{34,}"),
    token("together-key", "Together AI API key", "tgp_v1_<U>{30,}"),
    token("fireworks-key", "Fireworks AI API key", "fw_<A>{22,}"),
    token("cerebras-key", "Cerebras API key", "csk-<L>{40,}", edge="U"),
    token("nvidia-key", "NVIDIA API key", "nvapi-<U>{50,}"),
    token("voyage-key", "Voyage AI API key", "pa-<U>{43}(?!<U>)", edge="U"),
    token("jina-key", "Jina AI API key", "jina_<A>{50,}"),
    token("pinecone-key", "Pinecone API key", "pcsk_<A>{4,8}_<A>{50,}"),
    named("pinecone-key", "Pinecone API key of the older form", "pinecone", _UUID),
    token("tavily-key", "Tavily API key", "tvly-<U>{28,}"),
    token("firecrawl-key", "Firecrawl API key", "fc-<H>{32}(?!<A>)", edge="U"),
    token("elevenlabs-key", "ElevenLabs API key", "sk_<H>{48}(?!<A>)"),
    token("langsmith-key", "LangSmith API key", "lsv2_(?:pt|sk)_<H>{32}_<H>{10}", "lsv2_"),
    token("e2b-key", "E2B API key", "e2b_<H>{36,}"),
    token("runpod-key", "RunPod API key", "rpa_<A>{40,}"),
    token("modal-token", "Modal token", "a[ks]-<A>{22}(?!<A>)", "ak-", "as-", edge="U"),
    token("anyscale-key", "Anyscale API key", "esecret_<L>{24,}"),
    token("mem0-key", "Mem0 API key", "m0-<A>{40}(?!<A>)", edge="U"),
    token("cursor-key", "Cursor API key", "(?:crsr|key)_<H>{60,}", "crsr_", "key_"),
    token("wandb-key", "Weights & Biases API key", "wandb_v1_<U>{40,}"),
    named("wandb-key", "Weights & Biases API key of the older form", "wandb weights_and_biases", "<H>{40}"),
    named("cohere-key", "Cohere API key", "cohere co_api_key", "<A>{40}"),
    named("mistral-key", "Mistral API key", "mistral", "<A>{32}"),
    named("deepgram-key", "Deepgram API key", "deepgram", "<H>{40}"),
    named("assemblyai-key", "AssemblyAI API key", "assemblyai assembly_ai", "<H>{32}"),
    named("stability-key", "Stability AI API key", "stability dreamstudio", "<U>{48,52}"),
    named("exa-key", "Exa API key", "exa_api exa-api exaapi", _UUID),
    named("serper-key", "Serper or SerpApi key", "serper serpapi serp_api", "(?:<H>{64}|<H>{40})"),
)


# Payment, shops, banks and exchanges.

MONEY = (
    token("stripe-key", "Stripe-style secret key", "sk_(?:live|test|prod|sbox|org)_(?:live_|test_)?<A>{10,}", "sk_"),
    token("stripe-key", "Stripe restricted key", "rk_(?:live|test|prod)_<A>{10,}", "rk_"),
    token("webhook-secret", "Webhook signing secret", "whsec_[A-Za-z0-9+/=]{16,}", edge=""),
    token(
        "shopify-token",
        "Shopify token",
        "shp(?:at|ca|pa|ss|tka|ua)_<J>{32,}",
        *(f"shp{of}_" for of in "at ca pa ss tka ua".split()),
        edge="",
    ),
    token("square-token", "Square access token", "EAAA<U>{56,}", edge="U"),
    token(
        "square-secret", "Square OAuth secret", "sq0(?:atp|csp|idp)-<U>{20,}", "sq0atp-", "sq0csp-", "sq0idp-", edge=""
    ),
    token(
        "paypal-token",
        "PayPal Braintree access token",
        r"access_token\$(?:production|sandbox)\$<L>{16}\$<H>{32}",
        "$production$",
        "$sandbox$",
        edge="",
    ),
    named("paypal-secret", "PayPal client secret", "paypal", "<U>{80}"),
    named("braintree-key", "Braintree private key", "braintree bt_private", "<H>{32}"),
    token(
        "plaid-token", "Plaid access token", f"access-(?:sandbox|development|production)-{_UUID}", "access-", edge="U"
    ),
    named("plaid-secret", "Plaid secret", "plaid", "<H>{30}"),
    token("razorpay-key", "Razorpay key", "rzp_(?:live|test)_<A>{14,}", "rzp_"),
    token(
        "flutterwave-key",
        "Flutterwave key",
        "FLW(?:SECK|PUBK)(?:_TEST)?-[a-z0-9]{12,}(?:-X)?",
        "FLWSECK",
        "FLWPUBK",
        edge="",
    ),
    token("mercadopago-token", "Mercado Pago access token", r"APP_USR-\d{10,}-\d{6}-<H>{32}-\d{6,}"),
    token("gocardless-token", "GoCardless token", "live_<E>{40}(?!<E>)"),
    named("gocardless-token", "GoCardless token", "gocardless", "<U>{40,50}"),
    token("lob-key", "Lob API key", "(?:live|test)_(?:<H>{35}|pub_<H>{31})(?!<A>)", "live_", "test_", edge=""),
    token("shippo-token", "Shippo API token", "shippo_(?:live|test)_<J>{36,}", "shippo_"),
    token("easypost-key", "EasyPost API key", "EZ[AT]K<A>{54}(?!<A>)", "EZAK", "EZTK"),
    token("duffel-token", "Duffel API token", "duffel_(?:live|test)_<E>{40,}", "duffel_"),
    named("coinbase-key", "Coinbase key", "coinbase", "<U>{64}"),
    named("binance-key", "Binance key", "binance", "<A>{64}"),
    named("kucoin-key", "KuCoin secret", "kucoin", f"(?:<H>{{24}}|{_UUID})"),
    named("bittrex-key", "Bittrex key", "bittrex", "<A>{32}"),
    named("finnhub-key", "Finnhub API key", "finnhub", "<A>{20}"),
    named("finicity-key", "Finicity key", "finicity", "(?:<H>{32}|<A>{20})"),
    named("etsy-key", "Etsy key", "etsy", "<A>{24}"),
)
