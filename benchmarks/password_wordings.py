"""Wordings to fit the weights of `hardwon/scrub/likely_passwords.json` on: names × ways to give a value, and sentences
of parts in many languages, with what looks the same and gives none. `{p}` is where a password is put at run time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

NAMES = (
    "password db_password dbPassword DB_PASSWORD adminPass ADMIN_PW smtp_pass passphrase rootpw PASSWD pwd userPassword"
    " store_password admin.password ldap.bind_pw psk wpa_passphrase clientSecret SESSION_SECRET jwtSecret sudo_pass"
    " keyPassphrase PGPASSWORD MYSQL_PWD mail.password bindPassword vault_pass encryption_password masterPassword"
    " login_password new_password RootPassword SvcPwd secret proxy-password user-pass passcode accountPassword"
    " sa_password api_secret redis.password ftpPass"
).split()
GIVEN = (
    *('N = "{p}"', "N = '{p}'", "N: {p}", "N={p}", '"N": "{p}",', "'N' => '{p}',", 'N := "{p}"', "<N>{p}</N>", "N {p}"),
    *("set N {p}", "--N {p}", "--N={p}", "--N '{p}'", '.N("{p}")', 'N("{p}")', 'x.put("N", "{p}");', "N = {p}"),
    *("{{ user: 'app', N: '{p}', port: 1 }}", 'Map("N" -> "{p}")', 'let N = String::from("{p}");', "N: '{p}'"),
    *('const char *N = "{p}";', "N = N'{p}',", "-DN={p}", 'N: "{p}"  # move to vault', '(:N "{p}")', 'N <- "{p}"'),
    *('N="""{p}"""', "- name: N\n  value: {p}", '- name: N\n  value: "{p}"', "export N={p}", "env N={p} ./run.sh"),
    *("N {p};", 'os.environ["N"] = "{p}"', "SetEnvironmentVariable('N', '{p}', 'User')", "define('N', '{p}');"),
    *('<add key="N" value="{p}" />', '<x N="{p}" y="1"/>', "host=a user=b N={p} dbname=c", "Server=a;Uid=b;N={p};"),
    *('var N: String = "{p}"', 'private final String N = "{p}";', "$N = '{p}';", 'N = b"{p}"', 'N = r"{p}"', "N\t{p}"),
    *('connect(host="a", user="b", N="{p}")', "{{N: `{p}`}}", "N: {p}  # set by hand", "| N | {p} |", "N -> {p}"),
    *("-e N={p} -p 80:80", "--set auth.N={p}", "--from-literal=N={p}", "config set N {p}", "[x]\nuser=a\nN={p}"),
    *('fill("#N", "{p}")', "get('N').type('{p}')", 'N=@"{p}"', "+  N: {p}", '-N = "{p}"', "**N**: {p}", "- N: `{p}`"),
    *('"N":"{p}"', "secrets set N={p} --app x", 'N = "{p}".toCharArray()', "N: !!str {p}", "user a N {p}"),
)
NOT_GIVEN = (
    *("N = get_N()", "N: string", 'N = os.environ["X_N"]', "N = None", '"N": "string"', "N: ${{X}}", "N = user.N"),
    *("N = input.value", 'N = "..."', "N = <N>", "N: required", "N = true", 'N: "must be at least 8 characters"'),
    *('N: "Enter your password"', "N = prompt('Password: ')", "N = newPassword", "N: z.string().min(8)", "N = N"),
    *("N = models.CharField(max_length=128)", "if N == expected:", "def check(N: str) -> bool:", "N varchar(255)"),
    *("N = await ask('Password')", "return N", "N: Optional[str] = None", "N=$X", 'N = "${{X}}"', "--N-file /run/x"),
    *("N = hash(N)", "N: true", "N = document.getElementById('pw').value", "const {{ user, N }} = req.body;"),
    *('<input name="N" type="password">', "N = {{}}", 'throw new Error("N is missing")', "N_length = 12", "N: null"),
    *("N = this.form.get('N')", "N = config.N", "N: vault", "| N | string | yes |", "unset N", "grep -rn N src/"),
    *("N = Column(String, nullable=False)", "N: [required, string]", "N = request.form", "echo $N", "N=%X%", "N = ''"),
    *("useState(N)", 'label: "N"', "N,", "N: str", "N?: string;", "N = readline()", "N = secrets.token_hex(16)"),
    *(
        "postgres://user:N@localhost:5432/app",
        "http://username:N@host.com/path?query",
        "fixed in a91be07, see N.py:118",
    ),
    *("Commit 4f9c2a7 changed N", 'N failed for user "app" from 10.0.0.7:51422', "export API_N=sk-..."),
    *(
        "docker build --secret id=npm1,src=.npmrc .",
        "connect pin 12 to pin 1024 of the header",
        "pin 8080 is the clock",
    ),
    *("pin the version to 2.31.0", "-p, --N PASSWORD  ask for it", "N=N_v2_value", "token_v2: N", "$N2 and $N3 differ"),
    *("print(N)", "N = crypto", "N: undefined", 'N = "changeme"', "import N from './N'", "N = faker.internet()"),
)

LANGUAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "noun": ("password", "passphrase", "pw", "pass", "passcode", "login password", "sudo password", "pwd", "PIN"),
        "of": (
            "",
            "",
            " for the database",
            " of the server",
            " on staging",
            " for admin",
            " to the vpn",
            " for that box",
        ),
        "is": (
            " is {p}",
            ": {p}",
            " {p}",
            " = {p}",
            " is now {p}",
            " is still {p}",
            " was {p}",
            " -> {p}",
            " should be {p}",
        ),
        "with": ("use {p} as the ", "try {p} for the ", "type {p} as ", "log in with user bob and ", "set {p} as "),
        "said": (
            " is wrong",
            " must be changed",
            " is stored hashed",
            " is empty",
            " expired",
            " is required",
            " prompt blocks",
        ),
    },
    "de": {
        "noun": ("Passwort", "Kennwort", "Admin-Passwort", "WLAN-Passwort", "Passphrase", "PIN"),
        "of": ("", "", " für die Datenbank", " vom Server", " für den Zugang", " vom Admin", " auf Staging"),
        "is": (" ist {p}", ": {p}", " {p}", " lautet {p}", " ist jetzt {p}", " wurde auf {p} geändert", " heißt {p}"),
        "with": ("nimm {p} als ", "verwende {p} als ", "melde dich an mit ", "gib {p} ein als "),
        "said": (" ist falsch", " muss geändert werden", " ist abgelaufen", " fehlt noch", " wird verschlüsselt"),
    },
    "fr": {
        "noun": ("mot de passe", "mdp", "code PIN", "mot de passe admin", "phrase secrète"),
        "of": ("", "", " de la base", " du serveur", " pour le vpn", " de l'admin"),
        "is": (" est {p}", " : {p}", " {p}", " c'est {p}", " est maintenant {p}", " sera {p}", " devient {p}"),
        "with": ("utilise {p} comme ", "mets {p} comme ", "tape {p} comme ", "connecte-toi avec le "),
        "said": (" est incorrect", " est obligatoire", " a expiré", " doit être changé", " est vide"),
    },
    "es": {
        "noun": ("contraseña", "clave", "la contraseña", "la clave", "PIN"),
        "of": ("", "", " de la base de datos", " del servidor", " para el vpn", " del admin"),
        "is": (" es {p}", ": {p}", " {p}", " ahora es {p}", " sigue siendo {p}", " será {p}"),
        "with": ("usa {p} como ", "pon {p} como ", "entra con la "),
        "said": (" es incorrecta", " es obligatoria", " ha caducado", " no coincide", " está vacía"),
    },
    "pt": {
        "noun": ("senha", "palavra-passe", "a senha", "PIN"),
        "of": ("", "", " do banco", " do servidor", " para o vpn", " do admin"),
        "is": (" é {p}", ": {p}", " {p}", " agora é {p}", " continua {p}", " ficou {p}"),
        "with": ("use {p} como ", "coloca {p} como ", "entra com a "),
        "said": (" está errada", " é obrigatória", " expirou", " não confere", " está vazia"),
    },
    "it": {
        "noun": ("password", "parola d'ordine", "la password", "PIN"),
        "of": ("", "", " del database", " del server", " per la vpn", " di root"),
        "is": (" è {p}", ": {p}", " {p}", " adesso è {p}", " è sempre {p}", " sarà {p}"),
        "with": ("usa {p} come ", "metti {p} come ", "entra con la "),
        "said": (" è scaduta", " è sbagliata", " è obbligatoria", " non corrisponde", " è vuota"),
    },
    "nl": {
        "noun": ("wachtwoord", "het wachtwoord", "pincode"),
        "of": ("", "", " van de database", " van de server", " voor de vpn", " van beheer"),
        "is": (" is {p}", ": {p}", " {p}", " is nu {p}", " wordt {p}", " was {p}"),
        "with": ("gebruik {p} als ", "zet {p} als ", "log in met "),
        "said": (" is onjuist", " is verplicht", " is verlopen", " klopt niet", " is leeg"),
    },
    "pl": {
        "noun": ("hasło", "PIN"),
        "of": ("", "", " do bazy", " do serwera", " administratora", " roota"),
        "is": (" to {p}", ": {p}", " {p}", " jest teraz {p}", " zmieniłem na {p}", " brzmi {p}"),
        "with": ("użyj {p} jako ", "wpisz {p} jako ", "ustaw {p} jako "),
        "said": (" jest nieprawidłowe", " wygasło", " jest wymagane", " nie pasuje", " jest puste"),
    },
    "ru": {
        "noun": ("пароль", "Пароль", "пин", "секрет"),
        "of": ("", "", " от базы", " для сервера", " админа", " от вайфая"),
        "is": (" {p}", ": {p}", " — {p}", " это {p}", " теперь {p}", " сменил на {p}", " был {p}"),
        "with": ("используй {p} как ", "введи {p} как ", "поставь {p} как "),
        "said": (" неверный", " обязателен", " истёк", " не подходит", " пустой"),
    },
    "tr": {
        "noun": ("şifre", "parola", "şifresi", "parolası"),
        "of": ("", "", " (sunucu)", " (veritabanı)"),
        "is": (" {p}", ": {p}", " {p} oldu", " {p} olarak değiştirildi", " artık {p}"),
        "with": ("{p} ile gir, ",),
        "said": (" yanlış", " gerekli", " boş olamaz", " değiştirilmedi", " süresi doldu"),
    },
    "sv": {
        "noun": ("lösenord", "lösenordet", "adgangskode", "passordet", "salasana"),
        "of": ("", "", " till servern", " för databasen"),
        "is": (" är {p}", ": {p}", " {p}", " er {p}", " on {p}", " är nu {p}"),
        "with": ("använd {p} som ",),
        "said": (" är fel", " krävs", " saknas", " er ugyldigt", " on virheellinen"),
    },
    "cs": {
        "noun": ("heslo", "jelszó", "lozinka", "parola"),
        "of": ("", "", " k serveru", " do databáze", " a szerverhez"),
        "is": (" je {p}", ": {p}", " {p}", " este {p}", " most {p}"),
        "with": ("použij {p} jako ",),
        "said": (" je špatné", " je povinné", " hibás", " je pogrešna", " este greșită"),
    },
    "east": {
        "noun": ("密码", "口令", "パスワード", "비밀번호", "管理员密码", "暗証番号"),
        "of": ("",),
        "is": (
            "是{p}",
            "：{p}",
            "是 {p}",
            "は{p}です",
            "は「{p}」です",
            "は {p} です",
            "는 {p} 입니다",
            ": {p}",
            "改成了{p}",
            "为“{p}”",
            " {p}",
        ),
        "with": ("用 {p} 作为", "请用{p}作为"),
        "said": (
            "不能为空",
            "错误",
            "を入力してください",
            "が違います",
            "가 틀렸습니다",
            "不正确，请重试",
            "使用 bcrypt 加密",
        ),
    },
}
BEFORE = (
    "",
    "",
    "",
    "hey, ",
    "ok so ",
    "btw ",
    "FYI: ",
    "- ",
    "> ",
    "Note: ",
    "sorry, ",
    "user admin, ",
    "login bob, ",
)
BEHIND = (
    *(
        "",
        "",
        "",
        "",
        ".",
        "!",
        ", can you run it now?",
        " and then restart the service",
        ". Please do not share it.",
        ", thanks",
    ),
    *(
        " (temporary)",
        " if you need it",
        ", but it does not work",
        ". The user is admin.",
        " so try again",
        " lol",
        "\n",
    ),
    *(
        " - ask me if it fails",
        ", merci",
        ", no lo compartas",
        ", не забудь",
        "，谢谢",
        "\nthen run the tests",
        " for now",
    ),
    *(
        ", then ssh to 10.0.0.4",
        " because the old one expired",
        " until monday",
        " bitte",
        ", user deploy",
        " on all three",
    ),
)


def giving(random: Random, number: int) -> Iterator[str]:
    for _ in range(number):
        yield random.choice(GIVEN).replace("{{", "{").replace("}}", "}").replace("N", random.choice(NAMES), 1)
        words = random.choice([*LANGUAGES.values(), LANGUAGES["en"], LANGUAGES["en"]])
        noun, of = random.choice(words["noun"]), random.choice(words["of"])
        if random.random() < 0.25:
            said = random.choice(words["with"]) + noun + of
            said = said if "{p}" in said else f"{said} {{p}}"
        else:
            said = noun + of + random.choice(words["is"])
        yield random.choice(BEFORE) + said + random.choice(BEHIND)


def giving_none(random: Random, number: int) -> Iterator[str]:
    for _ in range(number):
        name = random.choice(NAMES)
        yield random.choice(NOT_GIVEN).replace("{{", "{").replace("}}", "}").replace("N", name)
        words = random.choice([*LANGUAGES.values()])
        said = random.choice(words["noun"]) + random.choice(words["of"]) + random.choice(words["said"])
        yield random.choice(BEFORE) + said + random.choice(BEHIND)
