"""Chat, mail, telephony and the webhooks that write to them."""

from __future__ import annotations

from hardwon.scrub.rules.form import named, token

_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"
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
