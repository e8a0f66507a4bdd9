"""A secret known only by its name is replaced; code, placeholders and numbers are not."""

from __future__ import annotations

from random import Random

import pytest

from hardwon.scrub.scrubber import Scrubber

from .fakes import HEX, URL_SAFE, password, text

PASSWORD = password(Random(31))
VALUE = text(Random(32), 24)


def scrub(text: str) -> str:
    return Scrubber().scrub(text)


@pytest.mark.parametrize(
    "around",
    [
        "DB_PASSWORD={}",
        "export PGPASSWORD={} && psql",
        "password: {}",
        "  password: '{}'",
        '{{"password": "{}", "user": "bob"}}',
        '{{\\"password\\": \\"{}\\"}}',
        '\\"passwd\\":\\"{}\\",',
        "connect(user='bob', password='{}')",
        'if password == "{}":',
        'def login(password: str = "{}") -> None:',
        'config["password"] = "{}"',
        "'password' => '{}',",
        "mysqladmin --password {} ping",
        "mysqladmin --password={} ping",
        '["--db-password", "{}"]',
        "<password>{}</password>",
        "ALTER USER bob WITH PASSWORD '{}';",
        "Server=db;User Id=sa;Password={};Encrypt=true",
        "**Password:** {}",
        "Password: `{}`",
        "+      dbPass: '{}'",
        "smtp_pass = {}",
        "passphrase={}",
    ],
)
def test_a_password_is_replaced_and_its_name_stays(around: str) -> None:
    assert scrub(around.format(PASSWORD)) == around.format("‹secret:password:1›")


@pytest.mark.parametrize(
    "name",
    [
        *("token", "TOKEN", "API_TOKEN", "authToken", "access_token", "refresh-token", "secret"),
        *("CLIENT_SECRET", "clientSecret", "SECRET_KEY_BASE", "api_key", "apikey", "API-KEY"),
        *("x-api-key", "AWS_ACCESS_KEY", "private_key", "_auth", "SigningKey", "encryption_key"),
    ],
)
@pytest.mark.parametrize("sign", ["={}", ": {}", " = '{}'", '": "{}"', '\\": \\"{}\\"'])
def test_a_credential_is_replaced_and_its_name_stays(name: str, sign: str) -> None:
    around = name + sign
    assert scrub(around.format(VALUE)) == around.format("‹secret:credential:1›")


@pytest.mark.parametrize(
    "value",
    [
        text(Random(33), 40, HEX),
        text(Random(34), 64, URL_SAFE),
        text(Random(35), 5000, URL_SAFE),
        "123456789:" + text(Random(36), 35),
        text(Random(37), 44) + "==",
    ],
)
def test_credentials_of_many_forms_are_replaced_to_their_end(value: str) -> None:
    assert scrub(f"token={value} next") == "token=‹secret:credential:1› next"


@pytest.mark.parametrize(
    "around",
    [
        "curl 'https://x.org/a?token={}&b=1'",
        "deploy --token {} --yes",
        '["--api-key", "{}"]',
        'api_key: str = "{}"',
        "AccountKey={};EndpointSuffix=core",
    ],
)
def test_a_credential_is_replaced_in_commands_addresses_and_connection_strings(around: str) -> None:
    assert scrub(around.format(VALUE)) == around.format("‹secret:credential:1›")


def test_even_a_short_password_is_replaced_in_an_address() -> None:
    assert scrub("https://x.org/?user=a&password=ab1&x=2") == ("https://x.org/?user=a&password=‹secret:password:1›&x=2")


PLACEHOLDERS = [
    "token: <your-token>",
    "TOKEN=${TOKEN}",
    "token=$TOKEN",
    "TOKEN=$(cat token.txt)",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: {{ .Values.password1 }}",
    "password=%(db_password1)s",
    "set TOKEN=%MY_TOKEN_1%",
    "api_key = YOUR_API_KEY_1",
    "ANTHROPIC_API_KEY=your-key-goes-here-1",
    "secret: changeme",
    "password=********",
    "password: xxxxxxxx",
    "token: sk-ant-...",
    "password = password1",
    "token=‹secret:jwt:1›",
]
CODE = [
    "token = process.env.TOKEN_2",
    'token = os.environ["TOKEN_2"]',
    "token = get_token_v2()",
    "const secret = process.env.JWT_SECRET!;",
    "apiKey: this.config.apiKey2,",
    "password: string",
    "password: Optional[str] = None",
    "api_key: str = None",
    "secret: true",
    "private_key: SecretStr",
    "auth: OAuth2PasswordBearer",
    "token=token_v2_value",
    "client_secret=settings.client_secret_v2,",
    "password=user.password!",
    "f'token={token}'",
    "password=''",
    'password: ""',
    "token:",
    "bot.run(token=discord_config.discord_bot_token2)",
]
ORDINARY = [
    "max_tokens: 4096",
    "tokens=2000",
    "token_count: 12345678",
    '"input_tokens": 1234567890',
    "--max-tokens 4096 --tokens 200000000",
    "secretName: my-app-tls-2024",
    "secret: my-app-secret-v2",
    "token: 2026-01-02T03:04:05Z",
    "token_endpoint: https://x.org/oauth2/token",
    "auth: https://x.org/v2/auth1234",
    "private_key: ~/.ssh/id_ed25519",
    "PWD=/srv/app/x1234567",
    "secret: ./config/secrets/v2.json",
    "docker build --secret id=npm1,src=.npmrc .",
    "docker login --password-stdin",
    '"nextToken": "abc123def456ghi789"',
    "author: bob12345",
    "bypass: abc12345",
    "foreign_key: users_id_1",
    "key: abc12345def",
    "PASS src/a.test.ts (5.123 s)",
    "    --- PASS: TestFormat/valid_RFC3339_with_offset (0.00s)",
    "the secret is 12 characters long; the token: 3 parts",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db1-AbCdEf",
]


@pytest.mark.parametrize("text", [*PLACEHOLDERS, *CODE, *ORDINARY])
def test_placeholders_code_and_ordinary_values_stay(text: str) -> None:
    assert scrub(text) == text
