"""Texts with a secret where secrets really stand, and texts that only look so; all made at run time."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from .fakes import basic_pair, make, pem_lines
from .formats import FIXED, NAMED, UUID


class Positive(NamedTuple):
    text: str
    secret: str
    fixed: bool
    """Known by its own form; else only by where it stands."""
    kind: str


WORDS = (
    "river stone lamp harbour violet copper meadow signal orbit willow anchor pepper canyon ember quartz saddle"
    " timber velvet walnut zephyr maple comet falcon garden hollow island jacket kettle ladder magnet"
).split()
SYMBOLS = "!@#$%^&*~"

PLACES = {
    "command": "deploy --region eu-west-1 --value {} --yes",
    "header": "curl -sS -H 'X-Custom: {}' https://api.example.org/v1/items",
    "env": "DEBUG=1\nSERVICE_CREDENTIAL={}\nPORT=8080\n",
    "url": "GET https://api.example.org/v1/items?page=2&access={}&sort=asc",
    "log": "2026-03-04T05:06:07.890Z ERROR [worker-3] upstream rejected {} (401 Unauthorized)",
    "json": '{{"id": 7, "value": "{}", "active": true}}',
    "json in json": '"{{\\"value\\":\\"{}\\",\\"active\\":true}}"',
    "diff": "@@ -10,3 +10,3 @@\n-  value: old\n+  value: {}\n   port: 8080",
    "yaml": "service:\n  value: '{}'\n  port: 8080\n",
    "python": 'client = Client("{}", timeout=30)',
    "docker": "docker run -e SERVICE={} -p 8080:80 example/app:1.2.3",
    "markdown": "Then I set the value to `{}` and ran it again.",
}
NAMED_PLACES = (
    "{name}={value}",
    "export {name}='{value}'",
    '{name}="{value}"',
    "{name}: {value}",
    '"{name}": "{value}",',
    "-e {name}={value} \\\n",
    '+const {camel} = "{value}";',
    "{camel} = '{value}'",
    "{camel}: '{value}',",
    "  {lower}: {value}",
    'os.environ["{name}"] = "{value}"',
    "ENV {name}={value}",
    "heroku config:set {name}={value} -a shop",
    "- name: {name}\n  value: {value}",
    '<add key="{camel}" value="{value}" />',
    '"{name}" => "{value}"',
    "{name} := {value}",
    'var {camel} string = "{value}"',
    "define('{name}', '{value}');",
    "{name} ?= {value}",
)
PASSWORD_PLACES = (
    "DB_PASSWORD={}",
    "export PGPASSWORD='{}' && psql -h db",
    "password: {}",
    '{{"user": "app", "password": "{}"}}',
    "connect(host='db', user='app', password='{}')",
    "mysql -h db -u root -p{} shop",
    "mysqldump -u root -p'{}' shop > dump.sql",
    "sshpass -p '{}' ssh deploy@host",
    "redis-cli -h cache -a {} ping",
    "docker login -u bob -p {} registry.example.org",
    "curl -u admin:{} https://api.example.org/v1/status",
    "curl --user 'admin:{}' https://api.example.org/",
    "postgres://app:{}@db.internal:5432/shop",
    "mongodb+srv://app:{}@cluster0.example.net/shop?retryWrites=true",
    "git remote add origin https://bob:{}@git.example.org/shop.git",
    "amqp://guest:{}@mq:5672/",
    "Server=db;Database=shop;User Id=sa;Password={};Encrypt=true",
    "jdbc:mysql://db/shop?user=app&password={}&useSSL=false",
    "ALTER USER app WITH PASSWORD '{}';",
    "CREATE USER 'app'@'%' IDENTIFIED BY '{}';",
    "<password>{}</password>",
    "spring.datasource.password={}",
    "MYSQL_ROOT_PASSWORD: {}",
    "machine git.example.org login bob password {}",
    "kubectl create secret generic db --from-literal=password={}",
    "+  db_pass: '{}'",
    'smtp_password = "{}"',
    "  passphrase: {}",
    "psql --password={} -h db",
    "keytool -genkey -storepass {} -alias app",
    "openssl rsa -in key.pem -passin pass:{}",
    "echo 'deploy:{}' | sudo chpasswd",
    "$env:ADMIN_PASSWORD = '{}'",
    "The password is `{}` for now.",
)


def positives(random: Random, each: int = 6) -> Iterator[Positive]:
    for kind, forms in FIXED.items():
        for form in forms:
            for place in random.sample(list(PLACES), each):
                secret = make(random, form)
                yield Positive(PLACES[place].format(secret), secret, True, kind)
    for kind, (name, form) in NAMED.items():
        for around in random.sample(NAMED_PLACES, each):
            secret = make(random, form)
            yield Positive(_filled(around, name, secret), secret, False, kind)
    for around in PASSWORD_PLACES:
        for _ in range(each * 2):
            secret = password(random)
            yield Positive(around.format(secret), secret, False, "password")
    for _ in range(each * 8):
        secret = passphrase(random)
        around = random.choice(['DB_PASSWORD="{}"', "password: '{}'", '{{"password": "{}"}}', "password = '{}'"])
        yield Positive(around.format(secret), secret, False, "passphrase")
    yield from _places(random, each * 4)


def _filled(around: str, name: str, value: str) -> str:
    first, *rest = name.lower().split("_")
    camel = first + "".join(map(str.capitalize, rest))
    return around.format(name=name, camel=camel, lower=name.lower(), value=value)


def password(random: Random) -> str:
    """As people choose them: a word with digits, with symbols, or drawn by chance."""
    word = random.choice(WORDS)
    return random.choice(
        (
            f"{word}{random.randint(10, 9999)}",
            f"{word.capitalize()}{random.choice('!@#$%^*~')}{random.randint(10, 99)}",
            f"{word[:2]}{random.randint(1, 9)}{word[2:].capitalize()}{random.randint(100, 999)}x",
            make(random, "<A16>"),
            make(random, "<A12>") + random.choice("!#%*~^"),
            f"{make(random, '<L8>')}_{make(random, '<A6>')}",
        )
    )


def passphrase(random: Random) -> str:
    words = random.sample(WORDS, 3)
    words[1] = f"{words[1][0]}{random.randint(1, 9)}{words[1][1:]}"
    return " ".join(words)


def _places(random: Random, each: int) -> Iterator[Positive]:
    for _ in range(each):
        for around in ("Authorization: Bearer {}", '"Authorization": "Bearer {}"', "-H 'authorization: token {}'"):
            secret = make(random, "<A40>")
            yield Positive(around.format(secret), secret, False, "header")
        pair = basic_pair(random)
        yield Positive(f"Authorization: Basic {pair}", pair, False, "basic")
        secret = make(random, "<U32>")
        yield Positive(f"Set-Cookie: session={secret}; Path=/; HttpOnly", secret, False, "cookie")
        yield Positive(f"deploy --token {secret} --yes", secret, False, "flag")
        yield Positive(f"//registry.example.org/:_authToken={secret}", secret, False, "npmrc")
        label = random.choice(["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"])
        lines = pem_lines(random, label)
        yield Positive("$ cat id\n" + "\n".join(lines) + "\n$", "\n".join(lines[1:-1]), True, "private-key")
        yield Positive('{"private_key": "' + "\\n".join(lines) + '"}', "\\n".join(lines[1:-1]), True, "private-key")
        value = base64.b64encode(password(random).encode()).decode()
        manifest = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  POSTGRES: {value}\n"
        yield Positive(manifest, value, False, "kubernetes")
        hook = make(random, "T<C10>/B<C10>/<A24>")
        yield Positive(f"curl -X POST https://hooks.slack.com/services/{hook}", hook, True, "slack-webhook")
        hook = make(random, "<D18>/<U68>")
        yield Positive(f"https://discord.com/api/webhooks/{hook}", hook[19:], True, "discord-webhook")
        key = make(random, "<H32>")
        yield Positive(f"dsn: https://{key}@o12345.ingest.example.io/67890", key, False, "sentry-dsn")
        signature = make(random, "<A40>%3D")
        yield Positive(f"https://x.blob.example.net/c/f?sv=2022&sig={signature}", signature, False, "azure-signature")


Maker = Callable[[Random], str]


def _lines(*templates: str) -> list[Maker]:
    return [lambda random, template=template: make(random, template) for template in templates]  # type: ignore[misc]


def _image(random: Random) -> str:
    return "data:image/png;base64,iVBORw0KGgo" + base64.b64encode(random.randbytes(180)).decode()


def _minified(random: Random) -> str:
    names = [random.choice(string.ascii_lowercase) for _ in range(12)]
    body = ";".join(f"{a}={b}[{random.randint(0, 99)}]({c},{d})" for a, b, c, d in zip(*[iter(names)] * 4, strict=True))
    return f"!function(e,t){{{body};var token=e.token,auth=t(1234),key=n.apiKey;return{{password:r,secret:i}}}}(this);"


def _json_lock(random: Random) -> str:
    return json.dumps(
        {
            "node_modules/" + random.choice(WORDS): {
                "version": f"{random.randint(0, 20)}.{random.randint(0, 30)}.{random.randint(0, 9)}",
                "integrity": "sha512-" + make(random, "<B86>") + "==",
            }
        }
    )


def _words(random: Random, count: int, joint: str = "_") -> str:
    return joint.join(random.sample(WORDS, count))


def _camel(random: Random, count: int) -> str:
    return "".join(map(str.capitalize, random.sample(WORDS, count)))


HASHES = _lines(
    "commit <H40>",
    "Merge: <H7> <H7>",
    "index <H7>..<H7> 100644",
    "sha256:<H64>",
    "image: example/app@sha256:<H64>",
    "uses: actions/checkout@<H40>",
    'checksum = "<H64>"',
    "--hash=sha256:<H64>",
    "md5 <H32>  dist.tar.gz",
    'ETag: "<H32>"',
    f"request_id={UUID}",
    f"session {UUID} started",
    f"trace-id: {UUID}",
    '<script integrity="sha384-<B64>" crossorigin="anonymous"></script>',
    "h1:<B43>=",
    "go.sum: golang.org/x/net v0.17.0 h1:<B43>=",
    "example.org/posthog/posthog-go v1.10.0 h1:<B43>=",
    "[1](diffhunk://#diff-<H64>R338)",
    "calendarific_id: <H24>",
    "cacheKey: '<L40>'",
    "acme_<H40>",
    "twilio==8.1.0 --hash=sha256:<H64>",
    "toolu_01<A22>",
    "msg_01<A22>",
    "call_<A24>",
    "chatcmpl-<A29>",
    'resolved "https://packages.example.org/lodash/-/lodash-4.17.21.tgz#<H40>"',
    "assets/index-<A8>.js  gzip: 41.2 kB",
    "_nuxt/entry.<H8>.css",
    "cache key: Linux-node-<H64>",
    "rustc 1.79.0 (<H9> 2024-06-10)",
    "blob <H40> 1234",
    "Digest: sha256:<H64>",
    "0x<H40>",
    "address: 0x<H64>",
    "nonce=<D16>",
    "timestamp: 17<D11>",
    "pid 12345 tid 140<D12>",
    "build number <D10>",
    "ISBN 978-3-16-148410-0 order #<D10>",
    '"id": <D18>,',
    "order_id=<D16>",
    "v2.3.1-<H7>",
    "docker.io/library/postgres:16.3@sha256:<H64>",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<B43> deploy",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ<B340>",
    "fingerprint SHA256:<B43>",
)
PLACEHOLDERS = [
    "token: <your-token>",
    "API_KEY=<API_KEY>",
    "TOKEN=${TOKEN}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "export GITHUB_TOKEN=$(gh auth token)",
    "password: {{ .Values.db.password }}",
    "password=%(DB_PASSWORD)s",
    "set TOKEN=%MY_TOKEN%",
    "api_key = YOUR_API_KEY",
    "OPENAI_API_KEY=your-api-key-here",
    "OPENAI_API_KEY=sk-...",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    f"AWS_ACCESS_KEY_ID=AKIA{'X' * 16}",
    "secret: changeme",
    "password=********",
    "password: xxxxxxxxxx",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_TOKEN_HERE",
    "https://user:password@example.com",
    "postgres://user:${DB_PASSWORD}@host/db",
    "postgres://USER:PASSWORD@HOST:5432/DB",
    "curl -u $USER:$PASS https://example.org",
    "mysql -u root -p$MYSQL_PASSWORD shop",
    "mysql -u root -p shop",
    'redis-cli -a "$REDIS_PASSWORD" ping',
    "password: !vault |",
    "token: op://vault/item/field",
    "secretKeyRef:\n  name: db-secret\n  key: password",
    '--token $TOKEN --password "${PASSWORD}"',
    "secret = os.environ['APP_SECRET']",
    "token = process.env.API_TOKEN",
    "password = getpass.getpass()",
    "api_key=settings.OPENAI_API_KEY,",
    'PASSWORD=""',
    "password: null",
    "token: undefined",
    "Enter password: ",
]
CODE = [
    "token = get_token()",
    "const token = await fetchToken(user.id, 3600);",
    "token: str | None = None",
    "password: string;",
    "secret: SecretStr",
    "def set_password(self, raw_password: str) -> None:",
    "auth: OAuth2PasswordBearer = Depends(oauth2_scheme)",
    "if (token === undefined) throw new TokenExpiredError('token expired');",
    "self.api_key = api_key or os.getenv('API_KEY')",
    "headers['Authorization'] = f'Bearer {token}'",
    'type Token struct { AccessToken string `json:"access_token"` }',
    "public_key = rsa.generate_public_key2048()",
    "assert response.json()['token'] == expected_token_1",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    "max_tokens=4096, top_p=0.95",
    "input_tokens: 123456, output_tokens: 7890",
    "passwordInput.value = form.password2;",
    "secretsManager.getSecretValue({ SecretId: 'prod/db1' })",
    "key={`row-${item.id}-${index}`}",
    "cache_key = f'user:{user_id}:profile:v2'",
    "foreign_key: users.id",
    "primary_key=True, autoincrement=True",
    "sort_key = lambda item: item.created_at",
    "auth.signInWithEmailAndPassword(email, password)",
    "UPDATE users SET password = crypt($1, gen_salt('bf', 8)) WHERE id = $2",
    "csrf_token = request.cookies.get('csrftoken')",
    "secretName: my-app-tls-2024",
    "token_url: https://example.org/oauth2/v2.0/token",
    "password_file: /run/secrets/db_password_1",
    "PrivateKeyPath=~/.ssh/id_ed25519",
    "next_token: abc123def456ghi789jkl",
    "kind: SecretProviderClass",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
    "--- PASS: TestLogin/case_12_with_token (0.01s)",
    "PASS src/auth/token.test.ts (5.123 s)",
    "test_password_reset_token_expires_after_24h PASSED",
    "PASSED tests/test_auth.py::test_token_v2[param1-secret2]",
    "FAILED tests/auth/test_login.py::test_password_hash_64 - AssertionError",
    "password must be at least 8 characters and contain 1 digit",
    "error: 'password': 'This password is too short. It must contain at least 8 characters.'",
    "Basic structure: see Basic Authentication in RFC7617",
    "bearer authentication is required for v2 endpoints",
    "npm_config_registry npm_package_version npm_lifecycle_event",
    ".sk-estimator-doc-link.fitted { color: #fff1a2; }",
    "background: url(data:image/svg+xml;utf8,x) no-repeat; color: rgba(0,0,0,0.87)",
    "grid-template-areas: 'header1 header2' 'main3 side4';",
    "the token is invalid; the secret is missing",
    "cookie: string; cookies: Cookie[]",
    "docker run -u 1000:1000 -p 8080:80 -v /data:/data image:1.2.3",
    "kubectl -n prod get pods -l app=api-v2",
    "ssh -i key.pem -p 2222 deploy@host1",
    "tar -xzf a.tgz; zip -r out.zip src; grep -p pattern1",
    "rsync -avz --password-file=/etc/rsync.secret1 src/ host::module1",
    "git commit -m 'fix: rotate token after 3600s'",
    "Content-Security-Policy: script-src 'nonce-abc' 'sha256-x'",
    "http://localhost:3000/@scope/pkg@1.2.3/file.js",
    "email-service:password-reset:v2:template-1",
    "i18n.t('auth.password.reset.success1')",
    "credentials: 'same-origin1', mode: 'cors'",
]
VARIED: list[Maker] = [
    _image,
    _minified,
    _json_lock,
    lambda r: f"token = {_words(r, 3)}_v{r.randint(2, 9)}",
    lambda r: f"password = {_words(r, 2)}.{r.choice(WORDS)}Password{r.randint(1, 9)}",
    lambda r: f'"secretName": "{_words(r, 3, "-")}-{r.randint(2020, 2026)}",',
    lambda r: f"api_key=self.{_words(r, 2)}[{r.randint(0, 9)}],",
    lambda r: f"def test_{_words(r, 4)}_{r.randint(1, 99)}(token: str) -> None:",
    lambda r: f"class {_camel(r, 4)}Token{r.randint(1, 9)}:",
    lambda r: f"token_type: {r.choice(WORDS)}, expires_in: {r.randint(60, 86400)}",
    lambda r: f"auth_url = https://{r.choice(WORDS)}.example.org/oauth2/v{r.randint(1, 3)}/authorize",
    lambda r: f"secret: projects/{r.randint(10**9, 10**10)}/secrets/{_words(r, 2, '-')}/versions/{r.randint(1, 9)}",
    lambda r: f"--- PASS: Test{_camel(r, 3)}/{_words(r, 3)}_{r.randint(1, 99)} (0.0{r.randint(0, 9)}s)",
    lambda r: f"{_words(r, 2)}Token: {r.choice(WORDS)}Token{r.randint(1, 9)},",
    lambda r: f'token="{_words(r, 3, "-")}"',
    lambda r: f"PASSWORD_{r.choice(WORDS).upper()}_{r.randint(1, 99)}=${{{r.choice(WORDS).upper()}_PASSWORD}}",
    lambda r: (
        f".{_words(r, 3, '-')}-{r.randint(1, 12)} {{ margin: {r.randint(0, 99)}px auto; color: #{make(r, '<H6>')}; }}"
    ),
    lambda r: f'data-test-id="{_words(r, 3, "-")}-{make(r, "<H8>")}"',
    lambda r: f"{r.choice(WORDS)}_key: {_words(r, 3, ':')}:{r.randint(1, 999)}",
    lambda r: f"/srv/{_words(r, 3, '/')}/token_{r.randint(1, 99)}.ts:{r.randint(1, 400)}:{r.randint(1, 80)}",
]


def negatives(random: Random, count: int = 20_000) -> Iterator[str]:
    """Half of them drawn from what varies, for the rest would only repeat."""
    fixed = [*PLACEHOLDERS, *CODE]
    yield from fixed
    for _ in range((count - len(fixed)) // 2):
        yield random.choice(HASHES)(random)
        yield random.choice(VARIED)(random)
    yield from (random.choice(VARIED)(random) for _ in range((count - len(fixed)) % 2))
