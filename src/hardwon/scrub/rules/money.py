"""Payment, shops, banks and exchanges."""

from __future__ import annotations

from hardwon.scrub.rules.form import named, token

_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"

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
