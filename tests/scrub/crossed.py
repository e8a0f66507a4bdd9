"""Passwords by crossing: ways to introduce one × kinds of value × surroundings, in eight languages; made at run time.

The ways were taken from tools' documentation, questions in trackers, manuals and real statements. Rules were
mended on every second of them first, and on the others when these had been counted.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from .corpus import WORDS
from .fakes import text

SAID = {
    "en": (
        "The factory default password is {}",
        "The default for the first access is User name: admin Password: {}",
        "its initial password can be configured and defaults to {}",
        "Initial password for 'root': {}",
        "We also supply username root and password {} from above",
        "A temporary password is generated for root@localhost: {}",
        "the username is user and the password is {} according to the tests",
        "You can log in with the test account, test@example.org and {}",
        "settings has it, the default password would be {}",
        "if it prompts you, the answer to the password question is {}",
        "password got rotated, it now reads {}",
        "our QA account (qa-bot) has {} as its password",
        "I set up a user called metrics whose password equals {}",
        "the old password {} was revoked, take the new one",
        "please store {} in the vault as the database password",
        "the password you want is {}",
        "Password is case sensitive: {}",
        "Sign in with your work mail and the passphrase {}",
        "give it the password, i.e. {}",
        "the wifi password at the office is {} btw",
        "the unlock code / password of the disk is {}",
        "change the admin password from the default to {}",
        "smtp login is mailer, its password {}",
        "I've put the password in the chat: {}",
        "everyone knows the password ({}) by now",
        "replace the hardcoded password {} with an env var",
        "why is {} hardcoded as the password in config.py?",
        "the tests expect the password to equal {}",
    ),
    "de": (
        "Das Standardpasswort des Routers ist {}",
        "Beim ersten Start ist als Kennwort {} eingetragen",
        "Benutzername: admin, Kennwort: {}",
        "Das Passwort vom Admin heißt {}",
        "Der Benutzer ist root und das Passwort dazu {}",
        "Gib beim Passwort bitte {} ein",
        "Ersetze das fest eingebaute Passwort {} durch eine Variable",
        "Das WLAN-Passwort im Büro lautet {}",
        "Wir haben {} als gemeinsames Passwort vereinbart",
        "Mit dem Kennwort {} komme ich nicht mehr rein",
        "PW ist {}",
        "Die Passphrase vom Schlüssel war {}",
    ),
    "fr": (
        "Le nom d'utilisateur par défaut est admin et le mot de passe est {}",
        "identifiant : Admin, mot de passe : {}",
        "le mot de passe (par défaut : {}) doit être changé",
        "saisis le mot de passe {} puis valide",
        "on a choisi {} comme mot de passe commun",
        "le mot de passe du wifi c'est {}",
        "remplace le mot de passe en dur {} par une variable",
        "le mdp de la base : {}",
        "Le mot de passe provisoire fourni est {}",
        "le compte de test a pour mot de passe {}",
        "la phrase secrète de la clé est {}",
        "mon mot de passe reste {}",
    ),
    "es": (
        "el usuario es admin y la contraseña {}",
        "la contraseña por defecto es {}",
        "Usuario: root Contraseña: {}",
        "introduce la contraseña {} y pulsa aceptar",
        "la contraseña del wifi de la oficina es {}",
        "quita la contraseña {} que está en el código",
        "hemos puesto {} como contraseña del servidor",
        "mi contraseña sigue siendo {}",
        "cambié la contraseña a {}",
        "la nueva contraseña temporal: {}",
        "entra con la cuenta demo y contraseña {}",
        "la clave de la base de datos es {}",
    ),
    "pt": (
        "o usuário padrão é admin e a senha é {}",
        "a senha padrão: {}",
        "entre com a senha {}",
        "a senha do banco continua sendo {}",
        "troque a senha {} por uma variável",
        "usuário: admin, senha: {}",
        "coloquei {} como senha do servidor",
        "a senha do wifi ficou {}",
        "a palavra-passe é {}",
        "mudei a senha para {}",
    ),
    "ru": (
        "логин admin, пароль {}",
        "пароль по умолчанию: {}",
        "пароль от базы такой: {}",
        "для входа введи пароль {}",
        "я поменял пароль на {}",
        "убери пароль {} из кода",
        "пароль от вайфая {}",
        "поставили {} как пароль на сервер",
        "временный пароль пользователя root — {}",
        "пароль администратора теперь {}",
    ),
    "zh": (
        "登录用户名：admin 密码：{}",
        "默认密码是{}",
        "初始密码为 {}",
        "数据库的密码改成了 {}",
        "用户名 root，密码 {}",
        "密码（默认 {}）需要修改",
        "请把代码里的密码 {} 换成环境变量",
        "我们用 {} 作为密码",
        "wifi密码是 {}",
        "管理员的登录口令为 {}",
    ),
    "ja": (
        "初期パスワードは {} です",
        "ユーザー名は admin、パスワードは {}",
        "パスワード：{}",
        "デフォルトのパスワードが {} になっている",
        "パスワードを {} に変更しました",
        "{} というパスワードでログインして",
        "コードにあるパスワード {} を消して",
        "データベースのパスワード: {}",
        "wifiのパスワードは {} だよ",
        "root のパスワードは{}です",
    ),
}
COMMANDS = (
    "mosquitto_pub -h mq -u sensor -P {} -t a -m b",
    "mosquitto_passwd -b /etc/mosquitto/passwd sensor {}",
    "cypher-shell -u neo4j -p {} 'MATCH (n) RETURN n'",
    "ipmitool -I lanplus -H bmc -U ADMIN -P {} power status",
    "nmcli device wifi connect office password {}",
    "vault login -method=userpass username=bob password={}",
    "az sql server create -n s -g g --admin-user sa1 --admin-password {}",
    "aws rds modify-db-instance --db-instance-identifier d --master-user-password {}",
    "gcloud sql users set-password root --instance=i --password={}",
    "wget --http-user=bob --http-password={} https://files.example.org/a",
    "svn checkout --username bob --password {} https://svn.example.org/x",
    "gpg --batch --passphrase {} -d secrets.gpg",
    "gpg --batch --yes --passphrase={} -c notes.txt",
    "RESTIC_PASSWORD={} restic -r /srv/backup snapshots",
    "export BORG_PASSPHRASE='{}'",
    "veracrypt --text --password={} vol.hc /mnt/v",
    "rclone obscure {}",
    "sudo mount -t cifs //nas/x /mnt -o username=bob,password={}",
    "ldappasswd -x -D cn=admin -s {} uid=bob",
    "kadmin.local -q 'addprinc -pw {} bob'",
    "x11vnc -passwd {} -display :0",
    "java -jar jenkins-cli.jar -s http://ci -auth bob:{} list-jobs",
    "mvn deploy -Drepo.password={}",
    "sonar-scanner -Dsonar.login=bob -Dsonar.password={}",
    "twine upload -u bob -p {} dist/*",
    "flyway -user=app -password={} migrate",
    "liquibase --username=app --password={} update",
    "bcp shop.dbo.t out t.csv -S db -U sa -P {}",
    "beeline -u jdbc:hive2://h:10000 -n bob -p {}",
    "etcdctl --user root:{} get a",
    "clickhouse-client --host db --user app --password {}",
    "arangosh --server.username root --server.password {}",
    "vsql -h db -U dbadmin -w {}",
    "db2 connect to shop user app using {}",
    "expdp system/{}@orcl schemas=app",
    "SET PASSWORD FOR 'app'@'%' = PASSWORD('{}');",
    "CREATE LOGIN app WITH PASSWORD = '{}';",
    "ALTER ROLE app WITH LOGIN PASSWORD '{}';",
    "CREATE USER app IDENTIFIED BY {};",
    "wp user create bob bob@example.org --user_pass={}",
    "php bin/magento setup:install --admin-user=a --admin-password={}",
    "DJANGO_SUPERUSER_PASSWORD={} ./manage.py createsuperuser --noinput",
    "OC_PASS={} php occ user:add --password-from-env bob",
    "mc alias set local http://minio:9000 admin {}",
    "docker run -e POSTGRES_PASSWORD={} postgres:16",
    "docker run --env MYSQL_ROOT_PASSWORD={} mysql:8",
    "helm install db bitnami/postgresql --set auth.postgresPassword={}",
    "kubectl create secret docker-registry r --docker-username=bob --docker-password={}",
    "heroku config:set ADMIN_PASSWORD={}",
    "gh secret set DB_PASSWORD --body {}",
    "ssh-keygen -t ed25519 -N {} -f id",
    "qpdf --password={} --decrypt in.pdf out.pdf",
    "pdftk in.pdf output out.pdf user_pw {}",
    "openssl passwd -6 {}",
    "mkpasswd -m sha-512 {}",
    "echo {} | passwd --stdin bob",
    "printf '%s' {} | docker login -u bob --password-stdin",
    "sshpass -p {} ssh bob@host",
    "SSHPASS={} sshpass -e ssh bob@host",
    "evil-winrm -i host -u bob -p {}",
    "nxc smb host -u bob -p {}",
    "rdesktop -u bob -p {} host",
    "xfreerdp /u:bob /p:{} /v:host",
    "curl --user bob:{} https://api.example.org",
    "curl -d 'username=bob&password={}' https://app.example.org/login",
    'curl -X POST -d \'{"user":"bob","password":"{}"}\' https://app.example.org/login',
    "http POST app.example.org/login username=bob password={}",
    "mongodump --username root --password {} --db shop",
    "mongorestore -u root -p {} dump/",
    'psql "host=db user=app password={} dbname=shop"',
    "mysqladmin -u root password {}",
    "redis-cli AUTH {}",
    "redis-cli CONFIG SET requirepass {}",
    "rabbitmqctl change_password bob {}",
    "influx setup --username bob --password {} --org o",
    "keytool -importkeystore -srcstorepass {} -srckeystore a.jks",
    "jarsigner -keystore a.jks -storepass {} app.jar alias",
    "az login -u bob@example.org -p {}",
    "cf login -u bob -p {}",
    "oc login -u developer -p {}",
    "net user bob {} /add",
    "runas /savecred; cmdkey /add:host /user:bob /pass:{}",
    "ansible-playbook site.yml -e ansible_ssh_pass={}",
    "unzip -P {} a.zip",
    "7z x -p{} a.7z",
)
SETTINGS = (
    'jaas: username="app" password="{}";',
    "spring.mail.password={}",
    "  POSTGRES_PASSWORD: {}",
    "      - MYSQL_PASSWORD={}",
    'db_password = "{}"',
    "$db['password'] = '{}';",
    "'password' => '{}',",
    '"adminPassword": "{}",',
    "password: '{}'  # rotate",
    "ENV ADMIN_PASSWORD {}",
    "ENV APP_PASS={}",
    '<add key="SmtpPassword" value="{}" />',
    '<property name="password" value="{}"/>',
    "<Password>{}</Password>",
    "requirepass {}",
    "initial_admin_password: {} # first login",
    "sasl_passwd: [smtp.example.org]:587 bob:{}",
    "machine api.example.org login bob password {}",
    'pgbouncer "app" "{}"',
    "PASS='{}'",
    "const PASSWORD = '{}';",
    'var pwd = "{}";',
    "await page.fill('#password', '{}')",
    "cy.get('[name=password]').type('{}')",
    "user.set_password('{}')",
    "User.create!(email: 'a@example.org', password: '{}')",
    "login('bob', '{}')",
    "conn = psycopg2.connect(dbname='shop', user='app', password='{}')",
    "Data Source=db;User ID=app;Pwd={};",
    "mail.smtp.auth.password = {}",
    "ftp_pass={}",
    "bindpw {}",
    "bindDN: cn=a\nbindPassword: {}",
    "wpa_passphrase={}",
    'psk="{}"',
    "| admin | {} | password |",
    "| user | password |\n|---|---|\n| admin | {} |",
    "username,password\nbob,{}",
    "Username: admin\nPassword: {}",
    "Login\n  user: admin\n  pass: {}",
)
AROUND = ("{}", "{}.", "ok so {}, thanks!", "- {} (don't share)", "TODO: {}\nthen run the tests again", "> {}")
AROUND_LINES = ("{}", "$ {}", "```\n{}\n```", "run this: `{}`", "+{}", "{}\n")


class Crossed(NamedTuple):
    text: str
    secret: str
    kind: str
    value: str
    unseen: bool


def worded(random: Random) -> str:
    return f"{random.choice(WORDS)}{random.randint(1, 9999)}"


def phrase(random: Random) -> str:
    words = random.sample(WORDS, random.choice((3, 4)))
    joint = random.choice((" ", "-", "."))
    return f'"{" ".join(words)}"' if joint == " " else joint.join(words)


def punctuated(random: Random) -> str:
    first, second = random.sample(WORDS, 2)
    return f"{first.capitalize()}{random.choice('!#%*@')}{second}{random.choice('!?*+')}{random.randint(1, 99)}"


def short(random: Random) -> str:
    letters = [random.choice(string.ascii_letters) for _ in range(5)]
    letters.insert(random.randint(2, 4), str(random.randint(1, 9)))
    return "".join(letters)


def long(random: Random) -> str:
    return "A1a" + text(random, 17, string.ascii_letters + string.digits)


VALUES = (worded, phrase, punctuated, short, long)


def crossed() -> Iterator[Crossed]:
    """Each way with each kind of value, in one of the surroundings."""
    random = Random(2031)
    number = 0
    kinds = {**SAID, "commands": COMMANDS, "settings": SETTINGS}
    for kind, ways in kinds.items():
        around = AROUND_LINES if kind in ("commands", "settings") else AROUND
        for way in ways:
            number += 1
            for make in VALUES:
                value = make(random)
                if '"' in value and ("'{}" in way or '"{}' in way):
                    value = value.strip('"')
                surroundings = random.choice(around)
                if "\n" in way and surroundings != "{}":
                    surroundings = "{}\n"
                said = surroundings.replace("{}", way.replace("{}", value))
                yield Crossed(said, value.strip('"'), kind, make.__name__, number % 2 == 0)
