"""Pages over real HTTP: who gets in, what a page may do, what a form needs, what whom is shown."""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import combinations, count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from hardwon import Hardwon
from hardwon.api.access import make_link, redeem
from hardwon.api.failing import _in_common
from hardwon.config import Config
from hardwon.install.agents import AGENTS
from hardwon.model.attempt import Attempt, Outcome
from hardwon.store import pages
from hardwon.store.database import insert
from tests.conftest import REPOSITORY, ClaudeSession
from tests.serve.service import Answer, Service, environment

PAGES = (
    "/",
    "/failures",
    "/review",
    "/lessons",
    "/lessons/new",
    "/sessions",
    "/journal",
    "/search",
    "/briefing",
    "/projects",
    "/proof",
    "/doctor",
    "/settings",
    "/openapi",
)
TEMPLATES = REPOSITORY / "src" / "hardwon" / "serve" / "pages" / "templates"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Visitor:
    """A browser's requests, without the browser."""

    def __init__(self, service: Service, token: str) -> None:
        self.service, self.token = service, token
        self.cookie = {"Cookie": f"hardwon={token}", "Accept": "text/html"}

    def get(self, path: str, **query: Any) -> Answer:
        return self.service.call("GET", path, token="", headers=self.cookie, **query)

    def page(self, path: str, **query: Any) -> str:
        answer = self.get(path, **query)
        assert answer.status == 200, (path, answer)
        return answer.body.decode()

    @property
    def sign(self) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.page("/projects"))
        assert found
        return found[1]

    def post(self, path: str, headers: dict[str, str] | None = None, /, **fields: str) -> Answer:
        sent = {**self.cookie, **FORM, "Origin": self.service.address, **(headers or {})}
        sent = {name: value for name, value in sent.items() if value}
        return self.service.call("POST", path, urlencode(fields).encode(), token="", headers=sent)


_AGAIN = count(1)


@pytest.fixture
def owner(service: Service) -> Visitor:
    return Visitor(service, service.token)


@pytest.fixture
def candidates(service: Service) -> Iterator[list[str]]:
    again = next(_AGAIN)  # what was rejected is not proposed again
    texts = [f"Tide table {number} needs a new anchor {name}{again}." for number, name in ((11, "alpha"), (12, "beta"))]
    made = [service.post("/api/lessons", {"text": text, "project": "reef"}) for text in texts]
    yield [one["lesson"]["id"] for one in made]
    for one in made:
        service.call("POST", f"/api/lessons/{one['lesson']['id']}/reject", {})


@pytest.mark.parametrize("path", PAGES)
def test_a_page_may_load_nothing_but_our_files_and_holds_no_script_or_style(owner: Visitor, path: str) -> None:
    answer = owner.get(path)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    text = answer.body.decode()
    assert re.findall(r"<script[^>]*>", text) == ['<script type="module" src="/assets/page.js">']
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
    assert not re.findall(r'(?:src|href|action)="(?!/|#)', text)
    assert text.count('<form method="get" action="/search" class="find"') == 1


def test_no_template_can_switch_escaping_off() -> None:
    for path in TEMPLATES.iterdir():
        assert not re.search(r"\|\s*safe|autoescape|Markup", path.read_text()), path.name


def test_a_browser_that_is_not_known_is_told_how_to_get_in_and_a_program_gets_json(service: Service) -> None:
    answer = service.call("GET", "/lessons", token="", headers={"Accept": "text/html"})
    assert answer.status == 401
    assert "hardwon open" in answer.body.decode()
    assert service.call("GET", "/assets/style.css", token="").status == 200
    assert service.call("GET", "/assets/page.js", token="").status == 401
    assert service.call("GET", "/lessons", token="").json["status"] == 401
    going = {"Accept": "*/*", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"}
    for path in ("/", "/login", "/login?token=spent", "/lessons"):
        shown = service.call("GET", path, token="", headers=going)
        assert (shown.status, shown.headers["content-type"]) == (401, "text/html; charset=utf-8"), path
        assert '<pre class="command">hardwon open</pre>' in shown.body.decode()
        assert ("no longer works" in shown.body.decode()) == (path not in {"/", "/lessons"})
        plain = service.call("GET", path, token="")
        assert plain.headers["content-type"] == "application/problem+json"
        assert ("run `hardwon open` again" in plain.json["detail"]) == path.startswith("/login")
    missing = service.call("GET", "/nowhere", headers={"Accept": "text/html"})
    assert (missing.status, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_a_link_lets_one_browser_in_once(service: Service) -> None:
    link = service.hardwon_link()
    assert service.call("GET", "/api/me", token=link).status == 401  # it opens nothing by itself
    first = service.call("GET", f"/login?token={link}", token="")
    assert first.status == 303
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    token = cookie.partition("=")[2].partition(";")[0]
    assert token != link
    assert service.get("/api/me", token=token)["name"] == "browser"
    again = service.call("GET", f"/login?token={link}", token="")
    assert again.status == 401
    assert "set-cookie" not in again.headers


def test_a_link_that_nobody_followed_ends_and_is_gone_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardwon.api import access

    with Hardwon(tmp_path) as memory:
        old = make_link(memory)
        later = access.now() + 6 * 60 * 1_000_000
        monkeypatch.setattr(access, "now", lambda: later)
        assert redeem(memory, old) == ""
        make_link(memory)
        assert len(memory.store.tokens()) == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": ""}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Type": "application/json"}, 415),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
    ],
)
def test_no_other_site_can_send_a_form(
    owner: Visitor, candidates: list[str], headers: dict[str, str], status: int
) -> None:
    answer = owner.post(f"/review/{candidates[0]}", headers, csrf=owner.sign, decision="promote")
    assert answer.status == status
    assert owner.service.get(f"/api/lessons/{candidates[0]}")["lesson"]["status"] == "candidate"


def forms() -> list[str]:
    """Every address that takes a form, but for the login, which nobody has a sign for yet."""
    sources = [path.read_text() for path in TEMPLATES.parent.glob("*.py")]
    paths = sorted(path for source in sources for path in re.findall(r'@action\(\s*"([^"]+)"', source))
    assert len(paths) >= 15
    return [re.sub(r"{(\w+):(\w+)}", lambda part: "1" if part[2] == "int" else part[1], path) for path in paths]


def test_every_form_needs_the_sign_of_our_own_pages(owner: Visitor, candidates: list[str]) -> None:
    other = Visitor(owner.service, owner.service.make_token("other", "read", "review"))
    for sign in ("", "0" * 32, other.sign):
        for path in [*forms(), f"/review/{candidates[0]}", f"/lessons/{candidates[0]}/promote"]:
            answer = owner.post(path, csrf=sign, decision="promote", rule="remember", text="x", name="x")
            assert (path, answer.status) == (path, 403)
            assert "not one of ours" in answer.body.decode()
    assert owner.service.get(f"/api/lessons/{candidates[0]}")["lesson"]["status"] == "candidate"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_another_site_leads_nowhere(owner: Visitor, site: str) -> None:
    headers = {**owner.cookie, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert owner.service.call("GET", "/lessons", token="", headers=headers).status == 403


def test_a_candidate_is_decided_on_and_the_decision_taken_back(owner: Visitor, candidates: list[str]) -> None:
    id = candidates[0]
    shown = owner.page("/review", at=id)
    assert "Tide table 11" in shown
    done = owner.post(f"/review/{id}", csrf=owner.sign, decision="promote", next=candidates[1])
    assert done.status == 303
    where = urlsplit(done.headers["location"])
    assert (where.path, parse_qs(where.query)["at"]) == ("/review", [candidates[1]])
    assert owner.service.get(f"/api/lessons/{id}")["lesson"]["status"] == "active"
    (event,) = parse_qs(where.query)["undo"]
    assert owner.post("/review/undo", csrf=owner.sign, event=event).status == 303
    assert owner.service.get(f"/api/lessons/{id}")["lesson"]["status"] == "candidate"


def test_all_that_a_rule_gave_is_decided_at_once_and_taken_back(owner: Visitor, candidates: list[str]) -> None:
    owner.post("/review/all", csrf=owner.sign, decision="reject", rule="remember")
    assert "event: end" in owner.get("/progress/review/events").body.decode()
    statuses = {owner.service.get(f"/api/lessons/{id}")["lesson"]["status"] for id in candidates}
    assert statuses == {"invalid"}
    assert '<span class="tag invalid">rejected</span>' in owner.page("/lessons", status="invalid")
    told = owner.page(f"/lessons/{candidates[0]}")
    assert "<del>candidate</del> → <ins>rejected</ins>" in told
    (events,) = re.findall(r'name="event" value="([\d.]+)"', owner.page("/review"))
    owner.post("/review/undo", csrf=owner.sign, event=events)
    assert "event: end" in owner.get("/progress/review/events").body.decode()
    statuses = {owner.service.get(f"/api/lessons/{id}")["lesson"]["status"] for id in candidates}
    assert statuses == {"candidate"}


def test_many_lessons_of_a_list_are_changed_at_once_and_changed_back(owner: Visitor, candidates: list[str]) -> None:
    def statuses() -> set[str]:
        return {owner.service.get(f"/api/lessons/{id}")["lesson"]["status"] for id in candidates}

    fields = [("csrf", owner.sign), ("decision", "promote"), *(("id", id) for id in candidates)]
    sent = {**owner.cookie, **FORM, "Origin": owner.service.address}
    unknown = urlencode([*fields, ("id", "L0")]).encode()
    assert owner.service.call("POST", "/lessons/many", unknown, token="", headers=sent).status == 404
    assert statuses() == {"candidate"}
    done = owner.service.call("POST", "/lessons/many", urlencode(fields).encode(), token="", headers=sent)
    assert statuses() == {"active"}
    assert "2 lessons changed" in owner.page(done.headers["location"])
    (events,) = parse_qs(urlsplit(done.headers["location"]).query)["undo"]
    owner.post("/review/undo", csrf=owner.sign, event=events, back="lessons")
    assert statuses() == {"candidate"}
    reader = Visitor(owner.service, owner.service.make_token("list reader", "read"))
    assert 'type="checkbox" name="id"' not in reader.page("/lessons")


def test_an_edited_candidate_is_promoted_with_its_new_words(owner: Visitor, candidates: list[str]) -> None:
    text = "Tide tables need a new anchor every spring."
    done = owner.post(f"/review/{candidates[0]}", csrf=owner.sign, decision="edit", text=text, kind="decision")
    found = owner.service.get(f"/api/lessons/{candidates[0]}")["lesson"]
    assert (found["text"], found["kind"], found["status"]) == (text, "decision", "active")
    (events,) = parse_qs(urlsplit(done.headers["location"]).query)["undo"]
    owner.post("/review/undo", csrf=owner.sign, event=events)
    found = owner.service.get(f"/api/lessons/{candidates[0]}")["lesson"]
    assert (found["kind"], found["status"]) == ("fact", "candidate")


def test_a_reader_sees_no_button_that_does_nothing_for_him(service: Service, candidates: list[str]) -> None:
    reader = Visitor(service, service.make_token("reader", "read"))
    lesson = service.get("/api/lessons", project="reef", status="active")["items"][0]["id"]
    for path in (
        "/",
        "/failures",
        "/review",
        "/lessons",
        f"/lessons/{lesson}",
        "/sessions",
        "/journal",
        "/briefing",
        "/projects",
        "/proof",
        "/openapi",
        "/failures/met?since=2026-01-01&until=2026-12-31",
        f"/failures/{service.get('/api/failures')['items'][0]['id']}",
        f"/sessions/{service.get('/api/sessions')['items'][0]['id']}",
    ):
        text = reader.page(path)
        usable = {"/logout", "/proof/replay"} if path == "/proof" else {"/logout"}
        assert set(re.findall(r'<form method="post" action="([^"]*)"', text)) <= usable, path
        assert 'href="/doctor"' not in text
        assert 'href="/settings"' not in text
    for path in ("/lessons/new", "/doctor", "/settings"):
        assert reader.get(path).status == 403
    assert reader.post(f"/review/{candidates[0]}", csrf=reader.sign, decision="promote").status == 403


def test_who_is_limited_to_a_project_sees_no_button_that_asks_for_the_whole_store(
    service: Service, candidates: list[str]
) -> None:
    limited = Visitor(service, service.make_token("reef master", "read", "write", "review", project="reef"))
    assert limited.post(f"/review/{candidates[0]}", csrf=limited.sign, decision="reject").status == 303
    for path in ("/", "/review?did=reject&undo=1", "/lessons?undo=1", "/projects", "/proof", "/sessions"):
        text = limited.page(path)
        assert not re.search(r'action="/(review/undo|review/settle|proof/replay|projects|harvest|settings)', text), path
        assert "/doctor" not in text
        assert "/settings" not in text


def test_a_number_leads_to_the_messages_that_it_counts(service: Service, owner: Visitor) -> None:
    """The proof on the first page, each error one by one."""
    told = html.unescape(owner.page("/"))
    for which, least in (("all", 6), ("before", 3), ("fixed", 2)):
        link = re.search(rf'href="(/failures/met\?[^"]*which={which})">(\d+)', told)
        assert link, which
        listed = html.unescape(owner.page(link[1]))
        messages = re.findall(r'href="/sessions/(\w+)\?at=(\d+)#m\2"', listed)
        assert int(link[2]) == len(messages) >= least
    for session, number in messages:
        assert f'id="m{number}"' in owner.page(f"/sessions/{session}", at=number)
    assert "kelp" not in listed.replace("kelp</option>", "") or "reef" in listed
    week = html.unescape(re.search(r'<a href="(/failures/met[^"]*)" tabindex="-1"', owner.page("/"))[1])  # type: ignore[index]
    assert "message" in owner.page(week)
    assert owner.get("/failures/met", since="yesterday", until="today").status == 400
    limited = Visitor(service, service.make_token("counting reefer", "read", project="reef"))
    here = limited.page(link[1])
    assert "kelp" not in here
    assert "message" in here


def test_who_may_see_one_project_sees_nothing_of_another(service: Service) -> None:
    limited = Visitor(service, service.make_token("reefer", "read", "review", project="reef"))
    kelp = service.get("/api/projects/kelp")["id"]
    assert "kelp" in Visitor(service, service.token).page("/failures")
    for path in ("/", "/failures", "/review", "/lessons", "/sessions", "/journal", "/briefing", "/projects", "/proof"):
        text = limited.page(path)
        assert "kelp" not in text, path
        assert limited.get(path, project=kelp).status in (200, 404)
        assert "kelp" not in limited.get(path, project=kelp).body.decode().replace(kelp, ""), path
    session = service.get("/api/sessions", project="kelp")["items"][0]["id"]
    assert limited.get(f"/sessions/{session}").status == 404
    lesson = next(one for one in service.get("/api/lessons", project="kelp")["items"] if one["project"])["id"]
    assert limited.get(f"/lessons/{lesson}").status == 404
    shared = next(one for one in service.get("/api/failures")["items"] if "shared_tools" in one["error"])["id"]
    assert "kelp" not in limited.page(f"/failures/{shared}")


def test_the_words_of_a_session_are_for_the_owner_alone(service: Service, owner: Visitor) -> None:
    session = service.get("/api/sessions", project="reef")["items"][0]["id"]
    assert "Always use reefctl" in html.unescape(owner.page(f"/sessions/{session}"))
    reader = Visitor(service, service.make_token("onlooker", "read"))
    assert 'class="transcript"' not in reader.page(f"/sessions/{session}")


def test_a_failure_tells_both_ends_of_its_fix_and_whether_it_came_back(service: Service, owner: Visitor) -> None:
    id = next(one for one in service.get("/api/failures")["items"] if "reef_tools" in one["error"])["id"]
    text = html.unescape(owner.page(f"/failures/{id}"))
    assert "uv sync --extra reef-tools" in text
    assert "pytest -q" in text
    assert "met by 1 later session, Hardwon had told none of them of it" in text
    told = (
        "It worked in all 2 sessions that met the error, from the one on that first found a fix; Hardwon had told none"
    )
    assert text.count(told) == 1
    assert html.unescape(owner.page("/failures", fix="known")).count(told) >= 2
    assert "reef_tools" not in owner.page("/failures", fix="none")


def test_one_search_finds_everything_and_leads_to_it(service: Service, owner: Visitor) -> None:
    tried = service.post(
        "/api/attempts", {"task": "Chart the reef_tools cove", "outcome": "failure", "project": "reef"}
    )
    asked = "reef_tools reefctl tide tables"
    text = owner.page("/search", q=asked)
    known = service.get("/api/search", q=asked, limit=20)["hits"]
    assert {"lesson", "failure", "attempt", "chunk"} <= {hit["type"] for hit in known}
    led_to = re.findall(r'href="(/(?:lessons|failures|journal)/\w+)"', text)
    ids = [hit["id"] for hit in known if hit["type"] in ("lesson", "failure")]
    assert [path.rpartition("/")[2] for path in led_to if not path.startswith("/journal")] == ids
    assert f"/journal/{tried['id']}" in led_to
    assert "<b>Fix</b> run <code>uv sync --extra reef-tools</code>" in text
    assert "The reef tide tables are in UTC." in text
    assert "reef.md" in text
    said = re.findall(r'href="(/sessions/[^"]+)#(m\d+)"', text.partition('id="said"')[2])
    assert len(said) >= 2
    for path, message in said:
        assert f'id="{message}"' in owner.page(path)
    for path in led_to:
        assert owner.get(path).status == 200
    only = owner.page("/search", q=asked, type="failure", project="kelp")
    assert not re.search(r'href="/(lessons|journal)/', only.partition("<main")[2])
    assert "named 'reef_tools'" not in html.unescape(only)
    assert "only failures" in only
    assert "project: kelp" in only


def test_a_search_shows_failures_of_a_kind_as_one_row(shipyard: Visitor) -> None:
    text = shipyard.page("/search", q="would reformat", type="failure")
    (row,) = re.findall(r'href="(/failures\?kind=[^"]+)"', text)
    assert " of a kind" in text
    assert "would reformat" in shipyard.page(html.unescape(row))


def test_a_search_shows_sessions_to_who_may_read_them_and_no_other_project(service: Service) -> None:
    reader = Visitor(service, service.make_token("searching reader", "read"))
    text = reader.page("/search", q="pytest reef_tools")
    assert "/failures/" in text
    assert "Said and done in sessions" not in text
    assert "Said and done" not in reader.page("/search", q="pytest", type="passage")
    allowed = Visitor(service, service.make_token("searching reefer", "read", "sessions", project="reef"))
    for query in ("pytest tools", "kelp_tools", "kelpctl", "uv sync shared tools", "tide tables"):
        found = allowed.page("/search", q=query).partition("<main")[2]
        assert "kelp" not in found.replace(query, ""), query
    assert "Said and done in sessions" in allowed.page("/search", q="pytest tools")
    kelp = service.get("/api/projects/kelp")["id"]
    assert allowed.get("/search", q="tools", project=kelp).status == 404


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "Search everything"),
        (" \t ", "Search everything"),
        ("xyzzyplugh", "Nothing found"),
        ("…", "Nothing found"),
        ("reefctl " * 2_000, "Only the first 2,000 characters"),
        ("</title><script>window.ran=1</script>", "&lt;script&gt;"),
        ('" onfocus=window.ran=1 autofocus x="', "&#34; onfocus"),
        ("\x1b[31mreefctl\x07\u202e", "Always use reefctl"),
        ('"NEAR( OR * reefctl', "Always use reefctl"),
    ],
)
def test_any_question_gets_a_page(owner: Visitor, query: str, says: str) -> None:
    text = owner.page("/search", q=query)
    assert says in text
    assert "<script>" not in text
    assert not re.search("[\x1b\x07\u202e]", text)
    assert owner.get("/search", q="\0").status == 400


def test_the_beginning_of_an_id_leads_to_the_whole_address(service: Service, owner: Visitor) -> None:
    tried = service.post("/api/attempts", {"task": "Caulk the seams", "outcome": "failure", "project": "reef"})
    reef = Visitor(service, service.make_token("short reefer", "read", project="reef"))
    for kind in ("sessions", "lessons", "failures"):
        here, there = (service.get(f"/api/{kind}", project=name)["items"] for name in ("reef", "kelp"))
        whole = next(one["id"] for one in here if one.get("project", "met"))
        for visitor in (owner, reef):
            led = visitor.get(f"/{kind}/{whole[:9]}", at=1)
            assert (led.status, led.headers["location"]) == (303, f"/{kind}/{whole}?at=1")
        several = owner.get(f"/{kind}/{whole[0]}")
        assert several.status == 404
        assert f"Several begin with {whole[0]}: give more of the id." in several.body.decode()
        assert "Not found" in owner.get(f"/{kind}/{whole[0]}zz").body.decode()
        seen = {one["id"] for one in here}
        elsewhere = next(one["id"] for one in there if one["id"] not in seen)
        assert reef.get(f"/{kind}/{elsewhere[:9]}").status == 404
    assert owner.get(f"/journal/{tried['key'][:9]}").headers["location"] == f"/journal/{tried['id']}"
    assert owner.get("/journal/A").status == 404
    assert owner.get("/journal/nothing").status == 404
    assert owner.get("/journal/" + "9" * 30).status == 404


def test_a_session_tells_the_folder_in_which_it_is_resumed(service: Service, owner: Visitor) -> None:
    session = service.get("/api/sessions", project="reef")["items"][0]
    command = f"cd /srv/work/reef && claude --resume {session['external_id']}"
    assert command in html.unescape(owner.page(f"/sessions/{session['id']}"))


def test_the_home_says_when_the_last_errors_are_old(tmp_path: Path) -> None:
    from tests.serve.service import served

    old = [ClaudeSession(f"old-{day}", day=day, month=3).user("Mend it.") for day in (1, 2, 3)]
    for one in old:
        one.run("make tide", "ModuleNotFoundError: No module named 'tides'", exit_code=1)
        one.run("uv sync --extra tides", "ok").run("make tide", "ok")
    calm = ClaudeSession("calm", day=1, month=10).user("Look at it.").run("make tide", "ok")
    with Hardwon(tmp_path / "hardwon") as memory:
        memory.harvest([one.write(tmp_path) for one in (*old, calm)], mine=True)
    with served(environment(tmp_path / "hardwon", Path())) as service:
        (told,) = re.findall(r'<p class="proof">(.*?)</p>', Visitor(service, service.token).page("/"), re.DOTALL)
        words = " ".join(re.sub("<[^>]+>", "", told).split())
        assert re.fullmatch(
            r"Your agents ran into 3 errors between \d+ \w+ and 3 Mar 2026\. 2 of them had already happened in an "
            r"earlier session\. For 2 of these the fix was known by then: an agent told of it could have avoided the "
            r"error\. Sessions after 3 Mar 2026 ran into no error\.",
            words,
        ), words


def test_a_fix_that_is_held_back_is_told_on_its_own_page_alone_and_why(tmp_path: Path) -> None:
    from tests.serve.service import served

    once = ClaudeSession("once").user("Start it.")
    once.run("pnpm smoke", "Error: listen EADDRINUSE: address already in use :::4173", exit_code=1)
    once.run("touch anchor.txt", "ok").run("pnpm smoke", "ok")
    with Hardwon(tmp_path / "hardwon") as memory:
        memory.harvest([once.write(tmp_path)], mine=True)
        (failure,) = memory.failures.list()
        (fix,) = failure.fixes
    with served(environment(tmp_path / "hardwon", Path())) as service:
        owner = Visitor(service, service.token)
        listed = owner.page("/failures", period="all")
        assert "No known fix" in listed
        assert "possible fix" not in listed
        own = owner.page(f"/failures/{failure.id}")
        assert "held back" in own
        assert f"Agents are not told of it: {fix.untrusted}." in own
        assert "It waits for a second session in which it works, or for a person to approve it" in own
        assert f"hardwon review --approve {fix.id[:9]}" in own
        assert "&lt;/span" not in own
        reader = Visitor(service, service.make_token("looker", "read"))
        assert "--approve" not in reader.page(f"/failures/{failure.id}")


def test_what_waits_is_one_count_on_every_screen_and_the_page_has_the_fixes(tmp_path: Path) -> None:
    from hardwon.api.review import ToDecide
    from tests.serve.service import served

    session = ClaudeSession("once").user("Start it.").run("tide post", "Error: the gauge is dry", exit_code=1)
    session.run("docker start tides", "ok").run("tide post", "ok")
    with Hardwon(tmp_path / "hardwon") as memory:
        memory.harvest([session.write(tmp_path)], mine=True)
        memory.lessons.propose("Use files rather than a server.", project="reef")
        (failure,) = memory.failures.list()
        (fix,) = failure.fixes
        assert (memory.review.count(), memory.review.counts()) == (2, ToDecide(1, 1))
        assert {one.name: one.says for one in memory.store.check()}["review"] == "1 lesson and 1 fix waiting for review"
        (queue,) = [one for one in memory.measure().metrics if one.name == "queue"]
        assert queue.value == 2
    with served(environment(tmp_path / "hardwon", Path())) as service:
        owner = Visitor(service, service.token)
        page = owner.page("/review")
        assert 'class="badge">2<' in page
        assert '<option value=""> (' not in page, "a lesson that no rule drew is in no filter"
        shown = page.partition('id="fixes"')[2]
        assert "<code>docker start tides</code>" in shown
        assert "seen once, and the error does not name it" in shown
        for decision, left in (("promote", ["active"]), ("reject", [])):
            done = owner.post("/review/fix", csrf=owner.sign, fix=fix.id, decision=decision)
            after = owner.page(done.headers["location"])
            assert 'id="fixes"' not in after
            told = service.get(f"/api/failures/{failure.id}")["failure"]["fixes"]
            assert [one["status"] for one in told] == left
            (events,) = re.findall(r'name="event" value="([\d.]+)"', after)
            owner.post("/review/undo", csrf=owner.sign, event=events)
            assert 'id="fixes"' in owner.page("/review")


def test_filters_stand_in_the_address_and_are_shown(owner: Visitor) -> None:
    text = html.unescape(owner.page("/lessons", q="reefctl", status="active"))
    assert "Always use reefctl" in text
    assert "“reefctl”" in text
    assert "status: active" in text
    assert "kelpctl in this" not in owner.page("/lessons", q="reefctl", project="reef")


def test_a_lesson_is_added_edited_superseded_and_forgotten(owner: Visitor) -> None:
    ids = []
    for text in ("The mooring is checked at dawn.", "The mooring is checked at dusk."):
        done = owner.post("/lessons/new", csrf=owner.sign, text=text, kind="fact", project="")
        ids.append(done.headers["location"].rpartition("/")[2])
    old, new = ids
    owner.post(f"/lessons/{old}/edit", csrf=owner.sign, text="The mooring was checked at dawn.", why="past")
    text = owner.page(f"/lessons/{old}")
    assert "The mooring was checked at dawn." in text
    assert "past" in text
    assert owner.post(f"/lessons/{old}/supersede", csrf=owner.sign, by=new).status == 303
    assert "Superseded by" in owner.page(f"/lessons/{old}")
    assert owner.post(f"/lessons/{new}/forget", csrf=owner.sign).status == 303
    assert "event: end" in owner.get("/progress/forget/events").body.decode()
    assert "nothing is left" in owner.page("/lessons")
    assert owner.get(f"/lessons/{new}").status == 404


def test_every_number_of_the_proof_leads_to_what_it_counts(owner: Visitor) -> None:
    assert owner.post("/proof/replay", csrf=owner.sign, project="").status == 303
    assert owner.get("/progress/replay/events").body.decode().count("event: end") == 1
    text = owner.page("/proof")
    measures = re.findall(r'<td class="number" data-label="">(.*?)</td>', text)
    assert len(measures) > 8
    assert all(re.fullmatch(r'<a class="quiet" href="[^"]+">[^<]+</a>', each) for each in measures)
    for address in set(re.findall(r'<a class="quiet" href="([^"]+)"', text)):
        assert owner.get(html.unescape(address)).status == 200, address
    assert not re.findall(r'data-label="95%">\s*</td>', text)  # an interval, or why there is none
    (errors,) = re.findall(r'which=errors">(\d+) errors<', text)
    assert f"{errors} errors in" in owner.page("/proof/replayed", which="errors")
    assert "extras add" not in text
    before, named = (int(*set(re.findall(rf'which={which}">(\d+)<', text))) for which in ("before", "named"))
    bars = set(re.findall(r' x="([\d.]+)"[^>]*><title>[^:]+: (\d+) errors, (\d+) seen before, (\d+) named', text))
    assert [sum(map(int, each)) for each in zip(*(bar[1:] for bar in bars), strict=True)] == [
        int(errors),
        before,
        named,
    ]
    assert "observational" not in text
    for path in ("/proof/told?which=back", "/proof/hooks?failed=true"):
        assert owner.get(path).status == 200


MONTHS = {"tides": 10, "winches": 10, "oars": 3}
"""Module that is missing → the month in which sessions missed it."""


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """Errors of this month and of an old one, some of the agent's own tools; a task that nothing tells the end of."""
    from tests.serve.service import served

    folder = tmp_path_factory.mktemp("harbour")
    once = "ModuleNotFoundError: No module named 'davits'"
    unjudged = ClaudeSession("unjudged", day=9).user("Move the mooring.").edit("pier.py", "new")
    sessions = [unjudged.run("make davit", once, exit_code=1)]
    for module, month in MONTHS.items():
        for day in (2, 6, 7) if module == "tides" else (3, 4):
            made = ClaudeSession(f"{module}-{day}", day=day, month=month).user(f"Always mend the {module} first.")
            for _ in range(4 if module == "tides" else 1):
                made.run("make tide", f"ModuleNotFoundError: No module named '{module}'", exit_code=1)
            made.edit("hull.py", "new", output="String to replace not found in file.", error=True)
            made.edit("hull.py", "new").run(f"uv sync --extra {module}", "ok").run("make tide", "ok")
            sessions.append(made.run("pytest -q", "3 passed"))
    with Hardwon(folder / "hardwon") as memory:
        memory.harvest([session.write(folder) for session in sessions], mine=True)
    with served({**environment(folder / "hardwon", Path()), "HARDWON_SERVE_BURST": "10000"}) as service:
        yield Visitor(service, service.token)


def failing(text: str) -> list[str]:
    return re.findall(r'class="error" href="/failures/(\w+)"', text)


def test_the_home_of_a_project_tells_when_its_own_newest_session_began(tmp_path: Path) -> None:
    from tests.serve.service import served

    rule = "Make sure to run `make lint` on every change of the schema"
    old = ClaudeSession("old", cwd="/srv/work/quay", day=2, month=3).user("plan").says("ok")
    for words in (rule, f"please {rule.lower()}", f"{rule}!"):
        old.user(words).says("Done.")
    new = ClaudeSession("new", cwd="/srv/work/reef", day=9, month=10).user("Look at it.").says("ok")
    with Hardwon(tmp_path / "hardwon") as memory:
        memory.harvest([one.write(tmp_path) for one in (old, new)], mine=True)
        quay = next(one.id for one in memory.store.projects() if one.name == "quay")
    with served(environment(tmp_path / "hardwon", Path())) as service:
        visitor = Visitor(service, service.token)
        began = "The newest session began <time[^>]*2026-{}"
        everywhere, of_quay = visitor.page("/"), visitor.page("/", project=quay)
        assert re.search(began.format("10-09"), everywhere)
        assert re.search(began.format("03-02"), of_quay)
        assert re.search(r"said in <a [^>]*>one session, again and again</a>", of_quay)


def test_home_and_failures_tell_the_same_month_in_the_same_order(harbour: Visitor) -> None:
    home, listed = harbour.page("/"), harbour.page("/failures")
    assert len(failing(home)) == 2
    assert failing(home) == [one for one in failing(listed) if one in failing(home)]
    assert "between 10 Sep and 9 Oct 2026" in home
    assert "no session was briefed so far" in home
    (errors,) = re.findall(r">(\d+) errors</a>", home)
    weeks = set(re.findall(r"<title>week of ([^:]+): (\d+) errors", home))
    assert sum(int(number) for _, number in weeks) == int(errors)  # the bars are those of the sentence's days
    assert "10 Sep – 9 Oct 2026" in listed
    assert len(failing(listed)) == 3
    for text in (home, listed):
        assert "&#39;oars&#39;" not in text
    assert "&#39;oars&#39;" in harbour.page("/failures", period="all")


def test_what_failed_between_two_moments_is_counted_as_if_every_occurrence_were_looked_at(harbour: Visitor) -> None:
    with Hardwon(Path(harbour.service.environment["HARDWON_HOME"])) as memory:
        db = memory.reading()
        times = [at for (at,) in db.query("SELECT DISTINCT at FROM occurrence ORDER BY at")][::3]
        for between in combinations(times, 2):
            counted = db.query(
                "SELECT count(DISTINCT root), count(*), max(at), failure FROM occurrence WHERE at BETWEEN ? AND ? "
                "GROUP BY failure",
                between,
            )
            for project in (None, memory.store.projects()[0].id):
                found = pages.failing(db, pages.Counted(project, between), after=None, limit=9)
                assert found == sorted(counted, reverse=True)


def test_errors_of_agents_own_tools_are_told_when_asked_for(harbour: Visitor) -> None:
    own = "String to replace not found"
    assert own not in harbour.page("/failures")
    assert "errors: of the project" in harbour.page("/failures")
    assert own in harbour.page("/failures", whose="agents")
    assert "tides" not in harbour.page("/failures", whose="agents")
    assert len(failing(harbour.page("/failures", whose="all", period="all"))) == 5


UNFORMATTED = ["hull.py", "mast.py", "keel.py"]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shipyard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """What one formatter says of three files; sessions that began with a plan, and attempts in them."""
    from tests.serve.conftest import made_workspace
    from tests.serve.service import served

    folder = tmp_path_factory.mktemp("shipyard")
    with ExitStack() as stack:
        place: Path | str = Path()
        if request.param == "postgresql":
            place = stack.enter_context(made_workspace(request.getfixturevalue("postgres_server")))
        fill_shipyard(folder, place)
        running = served({**environment(folder / "hardwon", place), "HARDWON_SERVE_BURST": "10000"})
        service = stack.enter_context(running)
        yield Visitor(service, service.token)


RULE = "Make sure to run `make lint` on every change of the schema"


def fill_shipyard(folder: Path, place: Path | str) -> None:
    sessions = []
    for day, file in enumerate([*UNFORMATTED, UNFORMATTED[0]], start=1):
        plan = f"Implement the following plan:\n\n# Plan: Careen the `sloop` {day}\n\n## Context\nIt leaks."
        made = ClaudeSession(f"yard-{day}", cwd="/srv/work/yard", day=day)
        made.user(plan).says("I will.").edit("hull.py", "new")
        made.run("black --check .", f"would reformat {file}\nOh no!", exit_code=1)
        made.run("black .", "reformatted").run("black --check .", "All done!").user("commit").says("Done.")
        if day == 2:
            made.user(RULE).says("Done.")
        if day == 1:
            made.run("make tide", "ModuleNotFoundError: No module named 'tides'", exit_code=1)
        sessions.append(made.write(folder))
    with Hardwon(folder / "hardwon") as memory:
        if isinstance(place, str):
            memory.config = type(memory.config)(database=place)
        memory.harvest(sessions, mine=True)
        for number in (1, 2):
            memory.journal.log(Attempt(task=f"Step mast {number}.", outcome=Outcome.FAILURE))


def chosen(visitor: Visitor, path: str, ids: Iterable[str], **fields: str) -> Answer:
    """A form of a list with some rows chosen."""
    sent = [("csrf", visitor.sign), *fields.items(), *(("id", id) for id in ids)]
    headers = {**visitor.cookie, **FORM, "Origin": visitor.service.address}
    return visitor.service.call("POST", path, urlencode(sent).encode(), token="", headers=headers)


def taken_back(visitor: Visitor, done: Answer, back: str) -> None:
    """By the button that the page then has."""
    assert done.status == 303
    shown = html.unescape(visitor.page(done.headers["location"]))
    (events,) = re.findall(r'name="event" value="([\d.]+)"', shown)
    assert visitor.post("/review/undo", csrf=visitor.sign, event=events, back=back).headers["location"] == f"/{back}"


def test_what_a_formatter_says_of_each_file_is_one_row_that_unfolds(shipyard: Visitor) -> None:
    text = html.unescape(shipyard.page("/failures"))
    rows = re.findall(r"<tr>.*?</tr>", text.partition("<tbody>")[2], re.DOTALL)
    assert len(rows) == 2
    assert "3 of this kind" in rows[0]
    assert all(file in rows[0] for file in UNFORMATTED)
    assert re.search(r'data-label="Sessions"><a[^>]*>4<', rows[0])
    (link,) = re.findall(r'class="error" href="(/failures\?kind=\w+)"', rows[0])
    alone = html.unescape(shipyard.page(link))
    assert len(failing(alone)) == 3
    assert "of one kind" in alone
    assert "of this kind" in shipyard.page("/")


def test_the_page_of_a_failure_says_of_what_kind_it_is_one(shipyard: Visitor) -> None:
    ids = [id for row in re.findall(r'name="id" value="([\w,]+)"', shipyard.page("/failures")) for id in row.split(",")]
    told = [html.unescape(shipyard.page(f"/failures/{id}")) for id in ids]
    of_kind = [text for text in told if "One of <a" in text]
    assert (len(told), len(of_kind)) == (4, 3)
    for text in of_kind:
        assert "3 of a kind</a>, the same failure in different files; together 4 times in 4 sessions." in text
        (link,) = re.findall(r'One of <a href="([^"]+)"', text)
        assert len(failing(shipyard.page(link))) == 3


def test_a_typed_sentence_that_may_be_a_rule_is_decided_on_and_the_decision_taken_back(shipyard: Visitor) -> None:
    for decision, status in (("promote", "active"), ("reject", "invalid")):
        shown = shipyard.page("/review").partition('id="said"')[2]
        assert "Make sure to run <code>make lint</code>" in shown
        (said,) = set(re.findall(r'name="said" value="([^"]+)"', shown))
        done = shipyard.post("/review/said", csrf=shipyard.sign, said=said, decision=decision)
        after = shipyard.page(done.headers["location"])
        assert 'id="said"' not in after
        lessons = shipyard.service.get("/api/lessons", status=status)["items"]
        assert [one["text"] for one in lessons if "make lint" in one["text"]] == [f"{RULE}."]
        (events,) = re.findall(r'name="event" value="([\d.]+)"', after)
        shipyard.post("/review/undo", csrf=shipyard.sign, event=events)
    assert 'id="said"' in shipyard.page("/review")


def test_a_row_that_stands_for_several_is_told_by_what_they_have_in_common() -> None:
    conflicts = [f"CONFLICT (content): Merge conflict in {name}" for name in ("src/a.ts", "bun.lock", "src/deep/b.ts")]
    assert _in_common(conflicts) == "CONFLICT (content): Merge conflict in …"
    both = [*conflicts, "CONFLICT (add/add): Merge conflict in tide.py"]
    assert _in_common(both) == both[0], "no stump without the words that tell"
    unformatted = [f"would reformat the whole file again ({name}.py)" for name in "ab"]
    assert _in_common(unformatted) == "would reformat the whole file again"
    unused = [f"{name}.cs(7,1): error IDE0005: Using directive is unnecessary" for name in "ab"]
    assert _in_common([unused[0], f"{unused[1]}."]) == "error IDE0005: Using directive is unnecessary"
    assert _in_common([f"{name}.cs: error IDE0055: Fix formatting" for name in "ab"]).startswith("error IDE0055")
    assert _in_common(["a b", "c d"]) == "a b"


def test_failures_are_muted_many_at_once_and_told_again(shipyard: Visitor) -> None:
    ids = re.findall(r'name="id" value="([\w,]+)"', shipyard.page("/failures"))
    assert [len(id.split(",")) for id in ids] == [3, 1]
    assert chosen(shipyard, "/failures/many", [*ids, "F0"], decision="mute").status == 404
    assert chosen(shipyard, "/failures/many", ids, decision="sink").status == 400
    done = chosen(shipyard, "/failures/many", ids, decision="mute")
    assert "2 rows changed, 4 failures in all." in shipyard.page(done.headers["location"])
    assert failing(shipyard.page("/failures")) == []
    assert len(re.findall('name="id"', shipyard.page("/failures", whose="muted"))) == 2
    one = ids[0].split(",")[0]
    assert "Muted: agents are not told of it" in shipyard.page(f"/failures/{one}")
    taken_back(shipyard, done, "failures")
    assert re.findall(r'name="id" value="([\w,]+)"', shipyard.page("/failures")) == ids
    done = chosen(shipyard, "/failures/many", [one], decision="mute", shown=one)
    assert done.headers["location"].startswith(f"/failures/{one}?undo=")
    taken_back(shipyard, done, "failures")


def test_a_session_that_began_with_a_plan_is_called_after_it(shipyard: Visitor) -> None:
    text = html.unescape(shipyard.page("/sessions"))
    assert "4 sessions, the newest first" in text
    assert text.count("Careen the <code>sloop</code>") == 4
    assert text.count("then “commit”") == 4
    session = re.findall(r'href="(/sessions/S\w+)">', text)[0]
    shown = html.unescape(shipyard.page(session))
    assert "a person then asked: “commit”" in shown
    assert re.search(r"<h1[^>]*>Careen the <code>sloop</code> 4</h1>", shown)


def test_the_same_is_learned_from_many_attempts_and_taken_back(shipyard: Visitor) -> None:
    found = [str(one["id"]) for one in shipyard.service.get("/api/attempts")["items"] if "mast" in one["task"]]
    said = "Step a mast only at slack tide."
    assert chosen(shipyard, "/journal/many", found, reflection=" ").status == 400
    assert chosen(shipyard, "/journal/many", [*found, "999"], reflection=said).status == 404
    done = chosen(shipyard, "/journal/many", found, reflection=said, outcome="failure")
    assert "2 attempts changed" in shipyard.page(done.headers["location"])
    assert all(said in shipyard.page(f"/journal/{id}") for id in found)
    assert said in shipyard.page("/review")
    taken_back(shipyard, done, "journal")
    assert not any(said in shipyard.page(f"/journal/{id}") for id in found)
    assert said not in shipyard.page("/review")


def test_projects_are_put_away_many_at_once_and_brought_back_or_made_one(shipyard: Visitor) -> None:
    ids = [shipyard.service.post("/api/projects", {"name": name})["id"] for name in ("sloop", "ketch", "yawl")]
    done = chosen(shipyard, "/projects/many", ids, decision="archive")
    assert shipyard.page("/projects").count('<span class="tag">archived</span>') == 3
    assert "ketch" not in shipyard.page("/sessions")
    taken_back(shipyard, done, "projects")
    assert "archived</span>" not in shipyard.page("/projects")
    assert chosen(shipyard, "/projects/many", ids, decision="merge", into="nowhere").status == 404
    assert chosen(shipyard, "/projects/many", ids, decision="merge", into=ids[0]).status == 303
    assert [one["id"] for one in shipyard.service.get("/api/projects")["items"] if one["id"] in ids] == ids[:1]


def test_sessions_are_forgotten_many_at_once_by_the_owner_alone(shipyard: Visitor) -> None:
    ids = re.findall(r'name="id" value="(S\w+)"', shipyard.page("/sessions"))[:2]
    reader = Visitor(shipyard.service, shipyard.service.make_token("yard reader", "read", "write", "review"))
    assert 'name="id"' not in reader.page("/sessions")
    assert chosen(reader, "/sessions/many", ids).status == 403
    assert chosen(shipyard, "/sessions/many", [*ids, "S0"]).status == 404
    assert chosen(shipyard, "/sessions/many", ids).status == 303
    assert "event: end" in shipyard.get("/progress/forget/events").body.decode()
    text = shipyard.page("/sessions")
    assert "2 sessions forgotten" in text
    assert "2 sessions, the newest first" in text
    assert all(shipyard.get(f"/sessions/{id}").status == 404 for id in ids)


def test_sparklines_of_a_table_have_one_scale(harbour: Visitor) -> None:
    text = harbour.page("/failures")
    often, seldom, _ = (
        max(float(height) for height in re.findall(r'height="([\d.]+)" class=""', drawn))
        for drawn in re.findall(r'<svg class="spark".*?</svg>', text, re.DOTALL)
    )
    assert often == pytest.approx(8 * seldom, rel=0.02)
    assert "each bar is 2 days, all rows on one scale; the tallest bar is 8 errors." in text


def test_a_session_is_not_said_to_be_completed_because_its_last_call_passed(harbour: Visitor) -> None:
    text = harbour.page("/sessions")
    assert ">ended<" in text
    assert "completed" not in text


def test_the_journal_begins_with_what_is_known(harbour: Visitor) -> None:
    mooring = "Move the mooring."
    assert "Always mend the tides first." in harbour.page("/journal")
    assert mooring not in harbour.page("/journal")
    assert "outcome: known" in harbour.page("/journal")
    for chosen in ("unknown", "all"):
        assert mooring in harbour.page("/journal", outcome=chosen)
    assert ">unknown<" not in harbour.page("/journal", outcome="all")


def test_a_briefing_says_why_in_words_and_the_sum_behind_it(harbour: Visitor) -> None:
    text = html.unescape(harbour.page("/briefing"))
    whys = re.findall(r'<summary title="How it was weighed">([^<]+)</summary><p class="soft">([^<]+)<', text)
    assert any(said.startswith("Said or approved by a person in ") for said, _ in whys)
    assert any(re.match(r"Seen \d+ times in 3 sessions, about \d+% likely in the next", said) for said, _ in whys)
    assert all("×" in behind and "×" not in said for said, behind in whys)
    assert "The same." in text
    assert "The same" not in harbour.page("/briefing", budget="50")
    assert "The same: with this task" in harbour.page("/briefing", budget="1950")


def test_a_briefing_claims_to_fit_a_task_only_by_a_word_of_it(harbour: Visitor) -> None:
    unlike = html.unescape(harbour.page("/briefing", task="fix the failing sails"))
    assert "like the task" not in unlike
    assert "The task changes nothing: every session here is told this." in unlike
    like = html.unescape(harbour.page("/briefing", task="Look at the tides", budget="200"))
    assert "like the task, it speaks of “tides”" in like


def test_a_quote_of_the_agent_is_not_called_tool_output(tmp_path: Path) -> None:
    from tests.serve.service import served

    cause = "Keep the keel `resultDraught` on the hull rather than on the mast, which may be deleted"
    made = ClaudeSession("cause", cwd="/srv/work/reef").user("Mend it.").run("make keel", cause)
    made.edit("keel.py", "new").run("pytest -q", "3 passed").says(f"All clean.\n\n## Decisions\n- {cause}.")
    with Hardwon(tmp_path / "hardwon") as memory:
        memory.harvest([made.write(tmp_path)], mine=True)
    with served(environment(tmp_path / "hardwon", Path())) as service:
        text = html.unescape(Visitor(service, service.token).page("/review"))
    assert "the agent's words, after tool output" in text


def test_settings_and_agents_are_told_by_names_that_people_know(harbour: Visitor) -> None:
    settings = harbour.page("/settings")
    titles = re.findall(r'<li class="setting"><div><b>([^<]+)</b>', settings)
    assert len(titles) == len(set(titles)) == len(Config.__struct_fields__)
    assert all(f"<code>{name}</code>" in settings for name in Config.__struct_fields__)
    assert not set(titles) & {*Config.__struct_fields__}
    assert "gemini or another." in settings
    assert (
        settings.rindex('class="setting"') < settings.index('id="tokens"') < settings.index('action="/settings/revoke"')
    )
    health = harbour.page("/doctor")
    assert all(name in health for name in AGENTS)


@pytest.mark.parametrize("theme", [0, 1])
def test_bars_and_fields_stand_out_from_what_they_stand_on(theme: int) -> None:
    """By 3:1, text by 4.5:1."""
    css = (TEMPLATES.parent / "assets" / "style.css").read_text()
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", re.findall(r":root {(.*?)}", css, re.DOTALL)[theme]))

    def brightness(name: str) -> float:
        digits = colours[name].lstrip("#")
        whole = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
        parts = [int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05

    least = dict.fromkeys(("fixed", "again", "known", "new", "edge"), 3.0)
    least |= dict.fromkeys(("ink", "soft", "accent", "good", "bad", "warn"), 4.5)
    for name, times in least.items():
        for ground in ("ground", "card"):
            dark, light = sorted((brightness(name), brightness(ground)))
            assert light / dark >= times, (name, ground)


def test_what_waits_can_be_paged_through(owner: Visitor) -> None:
    first = owner.page("/failures")
    assert owner.get("/failures", cursor="nonsense").status == 400
    assert "Next page" not in first


def test_a_home_without_sessions_invites(tmp_path: Path) -> None:
    from tests.serve.service import served

    with served(environment(tmp_path / "hardwon", Path())) as empty:
        visitor = Visitor(empty, empty.token)
        assert "hardwon up" in visitor.page("/")
        assert 'action="/harvest"' in visitor.page("/")
        reader = Visitor(empty, empty.make_token("reader", "read"))
        assert 'action="/harvest"' not in reader.page("/")
        assert reader.post("/harvest", csrf=reader.sign).status == 403
        assert "event: end" in reader.get("/progress/harvest/events").body.decode()
        for path in PAGES:
            assert visitor.get(path).status == 200, path


def test_the_home_names_a_model_that_is_at_hand_and_counts_habits(tmp_path: Path) -> None:
    from tests.serve.service import fill, served

    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    fill(tmp_path / "hardwon", Path(), tmp_path)
    with Hardwon(tmp_path / "hardwon") as memory:
        asked = [ClaudeSession(f"h{day}", day=day).user("commit <b>all").edit("/srv/a.py", "x") for day in (1, 2, 3)]
        memory.harvest([one.write(tmp_path / "habits") for one in asked], mine=True)
    with served({**environment(tmp_path / "hardwon", Path()), "PATH": str(program.parent)}) as service:
        home = Visitor(service, service.token).page("/")
        assert "hardwon distil --with claude" in home
        assert "“commit &lt;b&gt;all”" in home
        (link,) = re.findall(r'asked for in <a class="quiet" href="([^"]+)">3 sessions</a>; counted', home)
        assert Visitor(service, service.token).page(html.unescape(link)).count("commit &lt;b&gt;all</a>") == 3


def test_the_journal_tells_what_was_tried_and_takes_what_was_learned(service: Service, owner: Visitor) -> None:
    logged = service.post(
        "/api/attempts",
        {
            "task": "Careen the <b>sloop</b>",
            "outcome": "failure",
            "project": "reef",
            "diff": "@@ hull.py\n-old plank\n+new plank",
            "run": "careening",
        },
    )
    number = logged["id"]
    listed = html.unescape(owner.page("/journal", outcome="failure", run="careening"))
    assert "Careen the <b>sloop</b>" in listed
    assert "run: careening" in listed
    assert "Careen the" not in owner.page("/journal", outcome="success")
    assert f'href="/journal/{number}"' in owner.page("/journal", q="careen a sloop")
    text = owner.page(f"/journal/{number}")
    assert '<span class="added">+new plank' in text
    done = owner.post(f"/journal/{number}/reflect", csrf=owner.sign, reflection="Wait for low tide.")
    assert done.headers["location"] == f"/journal/{number}"
    assert "Wait for low tide." in owner.page(f"/journal/{number}")
    kelp = Visitor(service, service.make_token("kelper", "read", "write", project="kelp"))
    assert "sloop" not in kelp.page("/journal")
    assert kelp.get(f"/journal/{number}").status == 404
    assert kelp.post(f"/journal/{number}/reflect", csrf=kelp.sign, reflection="x").status == 404
    reader = Visitor(service, service.make_token("journal reader", "read"))
    assert "/reflect" not in reader.page(f"/journal/{number}")


def test_a_token_is_made_shown_once_and_revoked(service: Service, owner: Visitor) -> None:
    reef = service.get("/api/projects/reef")["id"]
    made = owner.post("/settings/tokens", csrf=owner.sign, name="deckhand", scope="read", project=reef, days="7")
    assert made.status == 200
    secret, id = re.search(r"(hardwon_([0-9a-f]{12})_[\w-]+)", made.body.decode()).groups()  # type: ignore[union-attr]
    me = service.get("/api/me", token=secret)
    assert (me["name"], me["scopes"], me["projects"]) == ("deckhand", ["read"], [reef])
    assert secret not in owner.page("/settings")
    assert owner.post("/settings/revoke", csrf=owner.sign, id=id).status == 303
    assert service.call("GET", "/api/me", token=secret).status == 401
    for wrong in ({"name": ""}, {"days": "0"}, {"days": "x"}, {"scope": "captain"}):
        fields = {"name": "stowaway", "scope": "read", **wrong}
        answer = owner.post("/settings/tokens", csrf=owner.sign, **fields)
        assert 'role="alert"' in answer.body.decode(), wrong
    assert "stowaway" not in owner.page("/settings")


def test_nobody_gives_a_right_that_he_has_not(service: Service) -> None:
    steward = Visitor(service, service.make_token("steward", "read", "admin"))
    assert 'value="review"' not in steward.page("/settings")
    sign = steward.sign
    assert steward.post("/settings/tokens", csrf=sign, name="mate", scope="review").status == 403
    assert steward.post("/settings/tokens", csrf=sign, name="mate", scope="read").status == 200


def test_a_setting_is_changed_and_followed_at_once(owner: Visitor) -> None:
    done = owner.post("/settings/config", csrf=owner.sign, name="budget", value="1234")
    assert done.headers["location"] == "/settings?saved=budget"
    assert "Budget: 1234 tokens" in owner.page("/briefing")
    wrong = owner.post("/settings/config", csrf=owner.sign, name="min_confidence", value="7")
    assert "out of range" in html.unescape(wrong.body.decode())


@pytest.mark.parametrize("name", ["llm_command", "llm_url", "embedding_url", "database", "own_folders", "distil", "x"])
def test_nothing_that_runs_a_program_or_sends_something_is_set_from_afar(owner: Visitor, name: str) -> None:
    assert owner.post("/settings/config", csrf=owner.sign, name=name, value="touch /tmp/x").status == 400
    assert f'name="name" value="{name}"' not in owner.page("/settings")


def secret_of_several_lines() -> str:
    body = "\n".join(secrets.token_hex(32) for _ in range(6))
    return f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"


def test_a_session_tells_what_it_changed_line_by_line_without_secrets_and_folds_what_is_long(
    service: Service, owner: Visitor, tmp_path: Path
) -> None:
    key = secret_of_several_lines()
    session = ClaudeSession("hull", cwd="/srv/work/reef", day=21)
    session.user("Mend the hull.\n" + "\n".join(f"Plank {number} leaks." for number in range(60)))
    planks = {"file_path": "/srv/work/reef/hull.py", "old_string": "a = 1\nplank = 2", "new_string": "a = 1\nplank = 3"}
    session.call("Edit", planks, "ok")
    session.call("Edit", {**planks, "new_string": "plank = 'never'"}, "String to replace not found", error=True)
    session.call("Write", {"file_path": "/srv/work/reef/key.pem", "content": key}, "ok")
    several = [{"old_string": "one", "new_string": "two"}, {"old_string": "three", "new_string": "four"}]
    session.call("MultiEdit", {"file_path": "/srv/work/reef/mast.py", "edits": several}, "ok")
    with Hardwon(Path(service.environment["HARDWON_HOME"])) as memory:
        if place := service.environment.get("HARDWON_DATABASE"):
            memory.config = type(memory.config)(database=place)
        memory.harvest([session.write(tmp_path)], mine=True)
    id = next(one["id"] for one in service.get("/api/sessions", limit=200)["items"] if one["task"].startswith("Mend"))
    text = html.unescape(owner.page(f"/sessions/{id}"))
    assert '<span class="gone">-plank = 2' in text
    assert '<span class="added">+plank = 3' in text
    assert "never" not in text.partition("Transcript")[0]
    assert all(line in text for line in ("-one", "+two", "-three", "+four"))
    assert "key.pem" in text
    assert not any(line in text for line in key.splitlines()[1:-1])
    assert "37 more lines" in text
    assert "Plank 59 leaks." in text.partition('<details class="fold">')[2]
    reader = Visitor(service, service.make_token("hull reader", "read"))
    assert 'class="added">+plank = 3' not in reader.page(f"/sessions/{id}")


def test_the_page_of_lessons_marks_what_no_session_is_told_and_says_why(tmp_path: Path) -> None:
    from tests.serve.service import served

    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        memory.harvest([ClaudeSession("s").user("Always mend the tides first.").write(tmp_path)], mine=True)
        old = memory.lessons.add("`tidectl` is version 3 on this machine.", kind="fact", scope="global")
        with memory.writing().transaction() as _:
            change = "UPDATE lesson SET rule = 'verified-by-command', last_confirmed = 1 WHERE id = ?"
            memory.writing().execute(change, (old,))
    with served(environment(home, Path())) as service:
        told, _, not_told = Visitor(service, service.token).page("/lessons").partition("mend the tides first")
        assert "not told" not in told
        assert re.search(r'title="measured \d+ \w+ ago">not told</span>', not_told)


def test_a_lesson_and_a_failure_tell_who_was_shown_them_and_what_came_of_it(tmp_path: Path) -> None:
    from tests.serve.service import served

    def session(name: str, day: int, month: int = 10) -> ClaudeSession:
        made = ClaudeSession(name, cwd="/srv/work/reef", day=day, month=month)
        made.user("Always use reefctl in this project.")
        made.run("make tide", "ModuleNotFoundError: No module named 'tides'", exit_code=1)
        return made.run("uv sync --extra tides", "ok").run("make tide", "ok")

    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        memory.harvest([session(f"met-{day}", day).write(tmp_path) for day in (1, 2, 3)], mine=True)
        told = memory.bootstrap("reef", agent="claude-code", session="shown-1")
        memory.harvest([session("shown-1", 27, month=12).write(tmp_path)], mine=True)
        lesson = next(line.id for line in told.lines if line.id.startswith("L"))
        failure = memory.failures.list()[0].id
    with served(environment(home, Path())) as service:
        owner = Visitor(service, service.token)
        shown = html.unescape(owner.page(f"/lessons/{lesson}").partition("Who was shown it")[2])
        assert "claude-code" in shown
        assert re.search(r'href="/sessions/S\w+">session</a>', shown)
        assert failure in {line.id for line in told.lines}
        assert '<span class="warn">met again' in owner.page(f"/failures/{failure}").partition("Who was shown it")[2]


def test_every_place_of_a_failure_and_source_of_a_lesson_can_be_seen(tmp_path: Path) -> None:
    from tests.serve.service import served

    session = ClaudeSession("often", cwd="/srv/work/reef").user("Mend the hull.")
    for _ in range(25):
        session.run("make hull", "ModuleNotFoundError: No module named 'hulls'", exit_code=1)
    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        said = [ClaudeSession(f"said-{day}", cwd="/srv/work/reef", day=day) for day in range(1, 8)]
        spoken = [each.user("Always mend the hull first.").write(tmp_path) for each in said]
        memory.harvest([session.write(tmp_path), *spoken], mine=True)
        failure, lesson = memory.failures.list()[0].id, memory.lessons.list()[0].id
    with served(environment(home, Path())) as service:
        owner = Visitor(service, service.token)
        sources = owner.page(f"/lessons/{lesson}")
        assert sources.count("<figure") == 1
        assert "the same in 6 more messages" in sources
        assert len(set(re.findall(r'href="(/sessions/\w+)(?:\?at=\d+)?#m', sources))) == 7
        some = owner.page(f"/failures/{failure}")
        assert "the newest 20 of 25" in some
        link = html.unescape(re.search(r'href="([^"]+)#met">show all', some)[1])  # type: ignore[index]
        assert owner.page(link).count("of the session</a>") == 25


def test_both_ends_of_a_fix_are_shown_of_every_session_in_which_it_worked(tmp_path: Path) -> None:
    from tests.serve.service import served

    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        met = [ClaudeSession(f"met-{day}", cwd="/srv/work/reef", day=day).user("Mend it.") for day in range(1, 9)]
        for one in met:
            one.run("make tide", "ModuleNotFoundError: No module named 'tides'", exit_code=1)
            one.run("uv sync --extra tides", "ok").run("make tide", "ok")
        memory.harvest([one.write(tmp_path) for one in met], mine=True)
        failure = memory.failures.list()[0].id
    with served(environment(home, Path())) as service:
        owner = Visitor(service, service.token)
        some = owner.page(f"/failures/{failure}")
        assert some.count('<div class="end passed">') == 5
        link = html.unescape(re.search(r'href="([^"]+)#fixes">show all', some)[1])  # type: ignore[index]
        assert owner.page(link).count('<div class="end passed">') == 8


def test_an_error_comes_back_in_another_session_than_the_one_that_fixed_it(tmp_path: Path) -> None:
    missing = "ModuleNotFoundError: No module named 'tides'"

    def session(name: str, day: int) -> ClaudeSession:
        made = ClaudeSession(name, cwd="/srv/work/reef", day=day).user("Mend the tide tables.")
        made.run("make tide", missing, exit_code=1).run("uv sync --extra tides", "ok").run("make tide", "ok")
        return made.run("make tide", missing, exit_code=1)

    with Hardwon(tmp_path / "hardwon") as memory:
        memory.harvest([session("one", 1).write(tmp_path)], mine=True)
        (failure,) = memory.failures.list()
        assert pages.came_back(memory.reading(), [failure.id]) == {failure.id: pages.Back(0)}
        memory.harvest([session("two", 2).write(tmp_path)], mine=True)
        assert pages.came_back(memory.reading(), [failure.id]) == {failure.id: pages.Back(1)}
        db = memory.writing()
        ((root,),) = db.query("SELECT root FROM occurrence ORDER BY at DESC LIMIT 1")
        with db.transaction():
            columns = "id session agent task budget tokens arm propensity dealer text_hash created_at".split()
            told = "bootstrap item event rank parts tokens shown chance".split()
            for id, session in (("B1", root), ("B2", "not read yet")):
                given = (id, session, "claude-code", "", 9, 9, "told", 1.0, "", "", 1)
                db.execute(insert("bootstrap", columns), given)
                db.execute(insert("exposure", told), (id, failure.id, "session-start", 1, "{}", 9, 1, 1.0))
        back = pages.came_back(memory.reading(), [failure.id])[failure.id]
        assert back == pages.Back(1, told=1, in_vain=1)
        since = "It worked in all 2 sessions that met the error, from the one on that first found a fix"
        assert back.said(2) == f"{since}; Hardwon told 1 session of it, and 1 of those met it again"


def test_a_project_is_renamed_described_and_made_part_of_another(service: Service, owner: Visitor) -> None:
    one, other = (service.post("/api/projects", {"name": name})["id"] for name in ("sloop", "ketch"))
    owner.post(f"/projects/{one}/rename", csrf=owner.sign, name="the sloop")
    owner.post(f"/projects/{one}/describe", csrf=owner.sign, description="One mast.")
    shown = owner.page("/projects")
    assert "the sloop" in shown
    assert "One mast." in shown
    assert owner.post(f"/projects/{one}/merge", csrf=owner.sign, into="nowhere").status == 404
    assert owner.post(f"/projects/{one}/merge", csrf=owner.sign, into=other).status == 303
    assert "One mast." not in owner.page("/projects")
