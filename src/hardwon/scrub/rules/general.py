"""Keys of services that nobody has written a rule for, known by how they are named and that chance drew them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from hardwon.scrub.rule import SOLID_RUN_CHARACTERS, Accepts, Candidate, Rule
from hardwon.scrub.shapes import (
    ASSIGNED,
    ASSIGNED_PROBE,
    NAME_END,
    QUOTE,
    entropy,
    is_credential,
    is_example,
    is_filled_in,
    is_name,
    is_passphrase,
    is_password,
    is_stand_in,
    is_strong,
    places_of,
)
from hardwon.text.normalise import MARK_ENDS, lazy_pattern

# A value drawn by chance, told from a name, a hash or an id, where little else tells that it is a secret.

_DIGIT = lazy_pattern(r"\d", re.A)
_SMALL = lazy_pattern(r"[a-z]")
_CAPITAL = lazy_pattern(r"[A-Z]")
_UUID = lazy_pattern(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_HEX = lazy_pattern(r"[0-9a-f]+", re.I)
_ALPHABET = lazy_pattern(r"abcdefghijkl|0123456789|9876543210", re.I)
_WORDS = lazy_pattern(r"[A-Z]?[a-z]{4,}|[A-Z]{5,}")
_CHANGES = lazy_pattern(r"(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d", re.A)
_PART_BREAK = lazy_pattern(r"[-_./:+~]+")
_VERSIONED = lazy_pattern(r"[A-Za-z]*+\d{0,2}|[A-Za-z]?\d++|[A-Za-z0-9]{1,4}", re.A)
_ADDRESS = lazy_pattern(r"[./~]|[a-z][a-z0-9+.-]*:|(?:sha|md)\d{1,3}[-:=]|\d{4}-\d\d-\d\d", re.I)
_SOLID_RUN = lazy_pattern(rf"(?=[A-Za-z_-]{{0,255}}\d)[A-Za-z0-9_-]{{{SOLID_RUN_CHARACTERS}}}", re.A)
"""What the prefilter looks for behind a service's name."""
_QUOTES = "\"'"
_MIN_ENTROPY = 3.0
_MIN_MIXED_ENTROPY = 3.7
_MAX_SHARE_OF_WORDS = 0.5
_MIN_LETTER_DIGIT_CHANGES = 4
_MIN_CHARACTERS_OF_EACH_CLASS = 2

_NO_SECRET = lazy_pattern(
    r"(?:ids?|uuid|guid|urls?|uri|host|hash|sha\d*|md5|digest|checksum|commit|rev(?:ision)?|etag|integrity|image|version"
    r"|tag|name|path|file|branch|ref|public|fingerprint|nonce|trace|request|build|dsn|sum|module|package|h1)[\"'\]]?\Z"
    r"|\bv?\d++\.\d++(?:\.\d|[ -])"
)
_NO_SECRET_KEY = lazy_pattern(
    r"(?:public|pub|primary|foreign|sort|cache|partition|hash|row|bucket|idx|index|schema|sequence|natural|hot|group|hoc"
    r"|mon|don|tur|whis|issuer|object|map|dict|lookup|unique|state|query|route|idempotency|dedupe?|translation|i18n|item"
    r"|list|react|storage|s3|blob|file|host|job|step|node|entity|record|event|message|metric|tag|restore|chunk|layer"
    r"|artifact|asset|image|build|run|trace|request|lock|mutex|redis|kv|shard|topic|room|thread|field|column|config"
    r"|setting|option|prop|param|attr|data|order|parent|child|root|node|tree|page|cursor|view|test|fixture)[_. -]?\Z"
)
_PREFIX = lazy_pattern(r"(?:\A|[^\w+/=.@%#-])[a-z][a-z0-9]{1,15}(?:[_-][a-z0-9]{1,12}){0,3}[_-]\Z")
_NO_TOKEN_PREFIX = lazy_pattern(
    r"(?:sha\d+|md\d|hash|commit|cache|chunk|build|id|uuid|msg|toolu|call|req|resp|run|thread|file|chatcmpl|layer|blob"
    r"|image|asset|class|css|sc|jsx|style|nonce|etag|rev|trace|span|event|evt|integrity|index|page|test|h1)[_-]\Z"
)


def drawn(value: str, *, least: int = 16) -> bool:
    """Whether letters and digits stand there as only chance puts them."""
    value = value.rstrip("=")
    if len(value) < least or not _DIGIT.search(value) or not (_SMALL.search(value) or _CAPITAL.search(value)):
        return False
    if entropy(value) < _MIN_ENTROPY or is_name(value) or _ADDRESS.match(value) or _ALPHABET.search(value):
        return False
    return not _is_worded(value) and not is_example(value) and not is_stand_in(value)


def _is_worded(value: str) -> bool:
    """Words with some digits, as in `ResourceGroup2024Backup` or `claude-3-5-sonnet-20241022`."""
    parts = _PART_BREAK.split(value)
    if len(parts) > 1 and all(_VERSIONED.fullmatch(part) for part in parts):
        return True
    if _SMALL.search(value) and _CAPITAL.search(value):
        return sum(len(word) for word in _WORDS.findall(value)) > _MAX_SHARE_OF_WORDS * len(value)
    return len(_CHANGES.findall(value)) < _MIN_LETTER_DIGIT_CHANGES


def mixed(value: str) -> bool:
    """The same, of small and capital letters and digits: no hash or UUID has all three."""
    if any(len(sign.findall(value)) < _MIN_CHARACTERS_OF_EACH_CLASS for sign in (_SMALL, _CAPITAL, _DIGIT)):
        return False
    return entropy(value) >= _MIN_MIXED_ENTROPY and drawn(value)


def is_compound_key(candidate: Candidate) -> bool:
    """Whether the value of `klaviyoKey` or `gh-key` was drawn by chance, and no `cacheKey` is named."""
    start = candidate.match.start("name")
    before = candidate.text[max(0, start - 24) : start].lower()
    if _NO_SECRET_KEY.search(before) or _UUID.fullmatch(candidate.value):
        return False
    return mixed(candidate.value) if before.endswith((" ", "?", "&")) else drawn(candidate.value)


def is_named_secret(candidate: Candidate) -> bool:
    """Whether the value was drawn by chance, and the name's end does not tell that it is an id or a path."""
    return not _NO_SECRET.search(candidate.group("name").lower()) and drawn(candidate.value)


def is_vendor_key(candidate: Candidate) -> bool:
    """Whether a value drawn by chance is given to a name with a vendor in it."""
    value = candidate.value
    if candidate.group("sign") == "," and candidate.text[candidate.match.start("secret") - 1] not in _QUOTES:
        return False
    if _NO_SECRET.search(candidate.group("name").lower().rstrip()):
        return False
    return bool(_SOLID_RUN.search(value)) and (bool(_UUID.fullmatch(value)) or drawn(value))


def is_prefixed(candidate: Candidate) -> bool:
    """Whether what follows `name_` is a token: the prefix alone begins many an id."""
    start = candidate.match.start("secret")
    before = candidate.text[max(0, start - 48) : start]
    return bool(_PREFIX.search(before)) and not _NO_TOKEN_PREFIX.search(before) and mixed(candidate.value)


def is_told_secret(candidate: Candidate) -> bool:
    """Whether what follows the word `secret` in a sentence is one."""
    return bool(_UUID.fullmatch(candidate.value)) or drawn(candidate.value)


def is_told_key(candidate: Candidate) -> bool:
    """The same after `token` or `key`, where hashes and ids stand too."""
    value = candidate.value
    if mixed(value):
        return True
    return len(value) >= 32 and not (_HEX.fullmatch(value) or _UUID.fullmatch(value)) and drawn(value)


# Names of services that give out keys without a form of their own; none is a word of everyday code.

_CLOUD = """
    alibaba aliyun appwrite backblaze bitrise bluemix bunnycdn cloudant cloudflare cloudinary cloudmersive cloudsight
    cloudsmith cloudways codacy codeclimate codecov codemagic codeship contabo coveralls crowdin datadog deepsource
    digitalocean dnsimple exoscale fastly filebase firebase fleetbase fly_api godaddy hcloud heroku hetzner hockeyapp
    hockeysdk huaweicloud ibmcloud imagekit imgix jenkins-crumb jenkins_ jfrog kamatera kinsta koyeb launchdarkly
    leaseweb linode logentries loggly logzio mezmo namecheap netlify newrelic northflank nuodb opsgenie outscale
    ovhcloud packagecloud pagerduty papertrail percy_token pinata pingdom planetscale platformsh porkbun proxycrawl
    qovery rackspace readthedocs rollbar runscope saucelabs scaleway scalingo scraperapi scrapestack scrapfly
    scrapingant scrapingbee screenshotlayer securitytrails semaphoreci sendbird shodan sirv_ snyk_ softlayer
    sonarcloud sonarqube splunk stackpath statuscake statuspage stormglass sumologic tencentcloud upcloud uploadcare
    uptimerobot urlscan vercel virustotal volcengine vultr web3storage webflow wistia zenscrape zenserp zerotier
"""
_DATA = """
    abuseipdb accuweather adzuna airvisual algolia alienvault alphavantage ambeedata amplitude aviationstack
    baremetrics bitcoinaverage calendarific calorieninja captaindata carboninterface censys chartmogul clarifai
    clearbit coinapi coinlayer coinlib coinmarketcap companyhub conversiontools convertapi cryptocompare currencycloud
    currencyfreaks currencylayer currentsapi customerio databox dbeaver deepai deepgram detectlanguage diffbot edamam
    edenai etherscan ethplorer exchangerate fastforex finage financialmodelingprep finnhub fixerio flightapi
    flightlabs flightstats foursquare fullstory geckoboard geoapify geocodify geocodio geoipify glassnode graphhopper
    gtmetrix guardianapi hereapi holidayapi honeycomb html2pdf hypertrack iexapis iexcloud imagga infura_ intrinio
    ip2location ipapi_ ipgeolocation ipinfo_ ipinfodb ipqualityscore ipstack keenio languagelayer lexigram linkpreview
    locationiq lokalise macaddress mailboxlayer mapbox mapquest marketstack maxmind meaningcloud mediastack mixpanel
    moralis nasdaqdatalink neutrinoapi newsapi newscatcher numverify nutritionix opencage openuv openweather
    optimizely pandascore paralleldots parsehub pdflayer pdfshift peopledatalabs pixabay positionstack posthog
    purestake quickmetrics rapidapi rawg_api rebrandly restpack rev_ai rockset serpapi serphouse serpstack shotstack
    shutterstock skybiometry smartystreets spoonacular sportmonks stockdata swiftype tatumio technicalanalysis
    text2data theoddsapi ticketmaster tiingo timezoneapi tomorrowio tomtom tradier travelpayouts twelvedata unsplash
    upcdatabase userstack vatlayer veriphone visualcrossing voicegain vpnapi walkscore weatherapi weatherbit
    weatherstack webscraper whoxy worldcoinindex worldweather zerobounce zipcodeapi
"""
_MONEY = """
    adyen amadeus apideck bitfinex bitmart bitmex bitpanda bitstamp bittrex blockcypher braintree cexio chargebee
    chargify coinbase cryptocom dwolla easypost etoro_ finicity flutterwave freshbooks gocardless gumroad instamojo
    kraken_ kucoin lemonsqueezy mercadopago mollie_ moonclerk oanda_ paddle_ paymongo paypal paystack plaid_ poloniex
    quaderno razorpay recurly shippo_ shopify signalwire squarespace stripe_ taxjar transferwise wepay youneedabudget
    zipbooks zuora
"""
_WORK = """
    activecampaign adafruit adobe_ aeroworkflow airbrake airship_ airtable apacta apiflash apifonica appcues appfollow
    apptivo asana_ atlassian audd_ auth0 autodesk autoklose autopilot_ avaza_ axonaut aylien ayrshare bannerbear
    beamer_ beebole besttime billomat bitbar bitbucket bitly blazemeter blitapp bloggerapi boostnote brandfetch
    browserstack browshot buddyns bugherd bugsnag buildkite buttercms campayn canny_ chatfuel checkly chorus_
    clickhelp clicksend clickup clockify clockwork_ closecrm cloudelements cloverly clustdoc codequiry collect2
    commercejs confluence contentful contentstack convertkit convier craftmypdf customerguru d7network dailyco
    dandelion dareboost delighted deputy_ detectify digitalriver dotdigital dovico dronahq droneci dropbox dyspatch
    eagleeye easyinsight ecostruxure eightxeight elasticemail enablex eventbrite everhour faceplusplus feedier fibery
    fileio flatio flickr flowflu formbucket formcraft formio formsite freeagent freshdesk freshsales freshworks
    fulcrum_ fxmarket gengo_ getgist getresponse getsandbox gitea_ gitter_ gocanvas goodday groovehq gyazo happyscribe
    harvest_ hellosign helpcrunch helpscout hiveage hubspot humanity_ iconfinder insightly instabot instagram
    integromat intercom invoiceocean jotform jumpcloud jupiterone karmacrm kickbox klaviyo klipfolio knapsackpro
    kontent kylas_ lastfm leadfeeder lemlist lendflow lessannoyingcrm linearapp linenotify linkedin liveagent
    livestorm loginradius loyverse madkudu mailchimp mailerlight mailerlite mailersend mailgun mailjet mailmodo
    mailsac mandrill mattermost mavenlink meistertask meraki messagebird metabase_ metrilo mindmeister mixmax_
    monday_api moosend mrticktock myfreshworks myintervals nethunt nexmo_ nicereply noticeable nozbe_ nylas_ okta_
    omnisend onedesk onelogin onepagecrm onesignal onfleet oopspam overloop pandadoc paperform parseur partnerstack
    pastebin paydirt paymoapp pepipost photoroom phraseapp pipedream pipedrive pivotaltracker planviewleankit planyo
    plivo_ podio_ pollsapi postageapp postbacks postmark powrbot prodpad prospectcrm protocolsio pushbullet pusher_
    pushover_ qualaroo quickbase reachmail readme_io refiner_ rentman repairshopr revampcrm ringcentral ritekit
    roninapp route4me runrunit salesblink salescookie salesflare salesforce salesmate satismeter segment_ selectpdf
    sendgrid sendinblue sentry_ sherpadesk shortcut_ signable signaturit signupgenius sigopt simplesat simplynoted
    siteleaf skrappio slack_ smartsheet smooch_ snipcart sparkpost speechtextai spotify_ statuspal stitchdata
    storecove stormboard storyblok storychief stripo_ stytch sugester supernotes surveyanyplace surveybot surveymonkey
    surveysparrow survicate tallyfy teamgate teamwork_ telegram telnyx textmagic thinkific thousandeyes timecamp
    tmetric todoist toggl_ trello_ tru_id twilio twitch_ twitter_ tyntec typeform unifyid unplugg uplead upwave_
    userflow verimail versioneye viewneo vimeo_ vonage vouchery vyte_ websitepulse whatsapp_ worksnaps workstack
    wrike_ yelp_ yousign youtube_ zendesk zenkit zeplin_ zohocrm zonka zoom_ zulipchat
"""
_MODELS = """
    ai21 anthropic assemblyai baseten cohere_ deepinfra deepseek elevenlabs fireworksai groq_ heygen huggingface
    leonardoai mistral_ moonshot nomic_ octoai openai_ openrouter perplexity_ photoroom replicate_ runwayml scaleapi
    stability_ synthesia togetherai unstructured voyageai wandb_ weaviate zhipuai
"""

VENDOR_NAMES = tuple(dict.fromkeys(" ".join((_CLOUD, _DATA, _MONEY, _WORK, _MODELS)).split()))


_VALUE = r"[a-z0-9_+/.~-]{16,4096}+={0,3}"
_AFTER_NAME = r"(?:[\"'`\]\\*]|\[\]){0,6}+[ \t]{0,8}+[:?+.=]{0,3}"
_PREFIXES = "key token secret live test prod sandbox api pat auth access cred sk pk".split()
_ANY_PREFIX = f"(?:{'|'.join(_PREFIXES)})"
_NAMES_PER_RULE = 8
"""Few, for each is looked for in a text with one of them; with 64 in a pattern hyperscan takes many times as long."""


def _vendors(names: Sequence[str]) -> Rule:
    any_name = f"(?:{'|'.join(map(re.escape, names))})"
    return Rule(
        "api-key",
        "Value drawn by chance, given to a name with a service's name in it",
        rf"(?P<name>{any_name}[a-z0-9_ .-]{{0,62}}+){_AFTER_NAME}(?P<sign>[=:>,])[ \t\"'`\\]{{0,12}}+"
        rf"(?P<secret>[a-z0-9_+/.~-]{{{SOLID_RUN_CHARACTERS},4096}}+={{0,3}})(?![a-z0-9])",
        tuple(names),
        is_vendor_key,
        any_case=True,
        solid=True,
        places=partial(places_of, names),
        probe=rf"{any_name}[\w .-]*[\"'`\]\[\\*]*[ \t]*[:=>,?+.]+[ \t\"'`\\]*[\w+/.~-]{{{SOLID_RUN_CHARACTERS}}}",
    )


_NAMES = sorted(VENDOR_NAMES)
VENDORS = tuple(_vendors(_NAMES[at : at + _NAMES_PER_RULE]) for at in range(0, len(_NAMES), _NAMES_PER_RULE))

GENERAL = (
    *VENDORS,
    Rule(
        "api-key",
        "Value drawn by chance, given to a name that ends in `key`",
        rf"(?P<name>key(?<=[a-z0-9_. ?&-]key)){NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{_VALUE})(?![a-z0-9(\[])",
        ("key",),
        is_compound_key,
        any_case=True,
        probe=rf"[a-z0-9_. ?&-]key{ASSIGNED_PROBE}[\w+/.~-]{{16}}",
    ),
    Rule(
        "api-key",
        "`key = ` and 64 hex digits",
        r"key(?<![\w.-]key)[\"']?[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<secret>[0-9a-f]{64}(?:[0-9a-f]{64})?)(?![0-9a-f])",
        ("key",),
        is_filled_in,
        any_case=True,
        probe=r"key[\"']?[ \t]*=[ \t]*[\"']?[0-9a-f]{64}",
    ),
    Rule(
        "api-key",
        "Value drawn by chance, given to a name with `secret` in it",
        rf"secret(?P<name>[\w-]{{1,24}}+){NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{_VALUE})(?![a-z0-9(\[])",
        ("secret",),
        is_named_secret,
        any_case=True,
        probe=rf"secret[\w-]+{ASSIGNED_PROBE}[\w+/.~-]{{16}}",
    ),
    *(
        Rule(
            "api-key",
            f"Value drawn by chance, given to a name that ends in `{word}`",
            rf"(?P<name>{word})(?![a-z0-9_-]){NAME_END}{ASSIGNED}{QUOTE}(?P<secret>{_VALUE})(?![a-z0-9(\[])",
            (word,),
            is_named_secret,
            any_case=True,
            probe=rf"{word}{ASSIGNED_PROBE}[\w+/.~-]{{16}}",
        )
        for word in ("_pat",)
    ),
    Rule(
        "api-key",
        "Long token of letters and digits after a prefix such as `live_` or `name-key-`",
        rf"{_ANY_PREFIX}[_-](?P<secret>[A-Za-z0-9]{{32,256}}+)(?![\w+/=-])",
        tuple(word + sign for word in _PREFIXES for sign in "_-"),
        is_prefixed,
        solid=True,
    ),
    *(
        Rule(
            "api-key",
            f"“{word} …” in a sentence",
            rf"{word}[ ]{{1,2}}[\"'`]?(?P<secret>[a-z0-9_+/=.-]{{20,256}}+)(?![a-z0-9(\[])",
            (f"{word} ",),
            accepts,
            any_case=True,
            probe=rf"{word}[ ]+[\"'`]?[\w+/=.-]{{20}}",
        )
        for word, accepts in (("secret", is_told_secret), ("token", is_told_key), ("key", is_told_key))
    ),
)


# Secrets known only by the name they are given to: `DB_PASSWORD=…`, `--token …`.

_KEY_OF = (
    "access account admin api app application auth aws client consumer crypt crypto deploy encryption hmac integration"
    " jwt license licence master private project secret security service session shared sign signing ssh storage"
    " subscription webhook write"
).split()
# What stands before is of one length, so words of a length go together.
_BY_LENGTH = [[word for word in _KEY_OF if len(word) == length] for length in sorted({*map(len, _KEY_OF)})]
_AFTER_WHAT_KEY = "|".join(
    f"(?<=(?:{'|'.join(words)}){between}key)" for words in _BY_LENGTH for between in ("", "[_ -]")
)

_PASSWORDS = {
    # Test runners print `PASS: name`.
    "pass": r"pass(?:word|wd|phrase|code|key|(?<!bypass)(?<!compass)(?:(?<!\spass)(?<!^pass)|(?=[\"']?[ \t]?=)))",
    "pwd": "pwd",
}
_PUBLIC_TOKENS = ("next", "page", "continuation", "publickey", "public", "csrf", "xsrf")
_NOT_PUBLIC = "".join(f"(?<!{word}token)(?<!{word}[_-]token)" for word in _PUBLIC_TOKENS)
# `arn:aws:…:secret:name` and `urn:…:oauth:name` are addresses, not assignments.
_CREDENTIALS = {
    "token": f"token{_NOT_PUBLIC}",
    "secret": r"secret(?<![\w*]:secret)",
    "auth": r"auth(?<![\w*]:auth)(?<![\w*]:oauth)",
    "key": f"key(?:{_AFTER_WHAT_KEY})",
    "credential": "credentials?",
    "creds": "creds",
}
_KINDS = {"password": _PASSWORDS, "credential": _CREDENTIALS}
_MIN_VALUE_CHARACTERS = {"password": 6, "credential": 8}
_ACCEPTS: dict[str, Accepts] = {"password": is_password, "credential": is_credential}

_SUFFIXED = (
    r"(?:[_.-]?(?:access|key|base64|b64|base|value|production|prod|dev|staging|test|live|old|new"
    r"|raw|string|hash|private|\d{1,3}))"
)
_SUFFIX = rf"{_SUFFIXED}{{0,3}}+"
_LITERAL = r"[ \t]{1,4}(?:by[ \t]{1,4})?(?=[\"'])"
_BETWEEN = dict.fromkeys(("key", "secret"), f"(?:{ASSIGNED}|{_LITERAL})")
"""In prose a quoted word often follows `token`."""
_NEXT_ARGUMENT = r"(?:[ \t]{1,4}|[\"'],[ \t]{0,4}(?=[\"']))(?!-)"


def _value(least: int) -> str:
    return (
        r"(?P<secret>(?(quote)"
        rf"(?![^\s\\]{{0,{least - 1}}}(?P=quote))(?:(?!(?P=quote))(?:\\.|[^\s\\{MARK_ENDS}])){{{least},}}+(?![ \t])"
        rf"|[^\s\"'`<>(){{}}\[\],;&|\\{MARK_ENDS}]{{{least},}}+(?![(\[{{])))"
    )


_PROBED = {
    "pass": "pass(?:word|wd|phrase|code|key)?",
    "key": rf"(?:{'|'.join(_KEY_OF)})[_ -]?key",
    "credential": _CREDENTIALS["credential"],
}
# What the last word on a value asks for, as far as a probe can: a digit or a symbol.
_LIKELY = {"password": r"(?:\S*[\d!@#$%^&*~]|\S{8,})", "credential": r"(?:\S*\d|\S{16,})"}
_IN_QUOTES = rf"(?P<quote>[\"'])(?P<secret>[^\n\\\"'{MARK_ENDS}]{{8,128}})(?P=quote)"


def _assigned(kind: str, keyword: str, name: str, between: str) -> Rule:
    value = _value(_MIN_VALUE_CHARACTERS[kind])
    pattern = rf"(?P<name>{name})(?>{between}{QUOTE}){value}"
    about = f"Value given to a name with `{keyword}`"
    probe = _probe(keyword) + _LIKELY[kind]
    return Rule(kind, about, pattern, (keyword,), _ACCEPTS[kind], any_case=True, probe=probe)


def _probe(keyword: str) -> str:
    return rf"{_PROBED.get(keyword, keyword)}{_SUFFIXED}*{ASSIGNED_PROBE}"


def _quoted_words(keyword: str, name: str) -> Rule:
    pattern = rf"(?P<name>{name}{_SUFFIX}){NAME_END}{ASSIGNED}{_IN_QUOTES}"
    about = f"Words in quotes given to a name with `{keyword}`"
    probe = _probe(keyword) + r"[^\"'\n]* [^\"'\n]*[\"']"
    return Rule("password", about, pattern, (keyword,), is_passphrase, any_case=True, probe=probe)


def _option(kind: str) -> str:
    any_name = "|".join(_KINDS[kind].values())
    return rf"-(?:(?<![\w-]-)|(?<=--)(?<![\w-]--))(?:[a-z0-9]{{1,20}}-){{0,3}}(?:api(?=key))?(?:{any_name}){_SUFFIX}"


def _quoted_argument() -> Rule:
    return Rule(
        "password",
        "Words in quotes behind an option `--password`",
        rf"(?P<name>{_option('password')})[ \t=]{{1,4}}{_IN_QUOTES}",
        ("pass", "pwd"),
        is_passphrase,
        any_case=True,
        probe=r"-[a-z0-9-]*(?:pass|pwd)[a-z0-9-]*[ \t=]+[\"'][^\"'\n]* [^\"'\n]*[\"']",
    )


def _flag(kind: str, *keywords: str) -> Rule:
    option = _option(kind)
    pattern = rf"(?P<name>{option}){_NEXT_ARGUMENT}{QUOTE}{_value(_MIN_VALUE_CHARACTERS[kind])}"
    any_word = "|".join(_PROBED.get(keyword, keyword) for keyword in _KINDS[kind])
    probe = rf"-[a-z0-9-]*(?:{any_word}){_SUFFIXED}*[\"', \t]+" + _LIKELY[kind]
    return Rule(
        kind, f"Argument of an option `--{kind}`", pattern, keywords, _ACCEPTS[kind], any_case=True, probe=probe
    )


def _in_url(keyword: str, *names: str) -> Rule:
    after_name = "|".join(f"{name[len(keyword) :]}=(?<=[?&]{name}=)" for name in names)
    pattern = rf"{keyword}(?:{after_name})(?P<secret>[^\s&#\"'<>{MARK_ENDS}]{{1,128}}+)"
    about = f"Password in the query of an address, `?{names[0]}=`"
    return Rule("password", about, pattern, (keyword,), is_filled_in, any_case=True)


def _told(keyword: str) -> Rule:
    # Bash says of what it cannot compute: `error token is "08"`.
    pattern = (
        rf"(?P<name>{keyword})(?<!error token)(?: (?:for|of) [\w@.'-]{{1,40}})?{_IS}[ \t]{{1,4}}"
        rf"(?P<quote>[\"'`*]{{1,2}})?(?P<secret>[^\s\"'`<>(),;{MARK_ENDS}]{{6,128}}+)"
    )
    about = f"“the {keyword} is …” in a sentence"
    return Rule("password", about, pattern, (f"{keyword} ",), is_strong, any_case=True)


_IS = r"(?: (?:is|was)(?: set to| now)?:?)"
ASSIGNMENTS = (
    *(
        _assigned("password", keyword, name + _SUFFIX, rf"{NAME_END}(?:{ASSIGNED}|{_LITERAL})")
        for keyword, name in _PASSWORDS.items()
    ),
    _assigned("password", "identified by", "identified by", r"[ \t]{1,4}(?!values|password|externally)"),
    *(
        _assigned("credential", keyword, name + _SUFFIX, NAME_END + _BETWEEN.get(keyword, ASSIGNED))
        for keyword, name in _CREDENTIALS.items()
    ),
    *(_quoted_words(keyword, name) for keyword, name in _PASSWORDS.items()),
    _flag("password", "pass", "pwd"),
    _quoted_argument(),
    _flag("credential", "-token", "-secret", "-auth", "-key", "-apikey", "-credential"),
    _in_url("pass", "password", "passwd", "pass"),
    _in_url("pwd", "pwd"),
    *(_told(keyword) for keyword in ("token", "secret")),
)
