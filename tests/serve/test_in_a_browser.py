"""The pages in a real Chromium: each one's main task, the keyboard, both themes, a phone, and hostile texts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest

from hardwon import Hardwon
from hardwon.model.attempt import Attempt, Outcome
from tests.conftest import EXAMPLES, ClaudeSession
from tests.serve.browser import PROGRAM, Browser, browsing
from tests.serve.payloads import HIDDEN, PAYLOADS
from tests.serve.service import Service, environment, served

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no chromium: apt-get install chromium")

PAGES = (
    "/",
    "/failures",
    "/review",
    "/lessons",
    "/sessions",
    "/journal",
    "/briefing",
    "/projects",
    "/proof",
    "/doctor",
    "/settings",
    "/openapi",
)
UNHURRIED = {"HARDWON_SERVE_RATE": "10000", "HARDWON_SERVE_BURST": "10000"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """With the bundled examples, and candidates that wait."""
    home = tmp_path_factory.mktemp("pages") / "hardwon"
    with Hardwon(home) as memory:
        memory.harvest([EXAMPLES], mine=True)
        for number in range(1, 9):
            memory.lessons.propose(f"Buoy {number} is repainted in month {number}.", project="tidepool")
    with served({**environment(home, Path()), **UNHURRIED}) as running:
        yield running


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser, service: Service) -> Browser:
    """Let in by a link, on a page of its own."""
    for kept in (chromium.complaints, chromium.asked, chromium.dialogs):
        kept.clear()
    chromium.look()
    chromium.open(f"{service.address}/login?token={service.hardwon_link()}")
    assert chromium.run("location.pathname") == "/"
    return chromium


_OF_THE_BROWSER = "data:image/svg+xml;base64,"
"""The sign in a field for a date, which the browser brings along."""


def places(browser: Browser) -> set[str]:
    """Where anything was asked for."""
    return {urlsplit(address).netloc for address in browser.asked if not address.startswith(_OF_THE_BROWSER)}


def quiet(browser: Browser, service: Service) -> None:
    assert browser.complaints == []
    assert places(browser) == {service.host}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_and_is_quiet(browser: Browser, service: Service, width: int, dark: bool) -> None:
    browser.look(width=width, dark=dark)
    for path in PAGES:
        browser.open(service.address + path)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), path
        assert browser.run("document.querySelectorAll('h1').length") == 1, path
        ground = browser.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == dark
    quiet(browser, service)


@pytest.fixture(scope="module")
def axe() -> str:
    """The rules of accessibility that axe-core knows, as a script."""
    found = find_spec("axe_core_python")
    assert found
    assert found.origin
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_on_any_page(browser: Browser, service: Service, axe: str, dark: bool) -> None:
    """In the dark the colours alone are looked at anew."""
    browser.look(dark=dark)
    rules = "{runOnly: ['color-contrast']}" if dark else "{}"
    told = f"axe.run(document, {rules}).then(found => found.violations.map(one => [one.id, one.nodes[0].html]))"
    tried = next(one for one in service.get("/api/attempts", limit=200)["items"] if one["files_modified"])
    details = [
        f"/{kind}/{service.get(f'/api/{kind}')['items'][0]['id']}" for kind in ("failures", "lessons", "sessions")
    ]
    days = urlencode({"since": "2020-01-01", "until": "2030-01-01"})
    more = ["/lessons/new", "/review?edit=true", f"/journal/{tried['id']}", f"/sessions/{tried['session']}?q=test"]
    more += ["/briefing?task=mend+the+tests", "/lessons?q=tests", f"/failures/met?{days}", "/nowhere"]
    for path in (*PAGES, *details, *more):
        browser.open(service.address + path)
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
        browser.run(f"{axe};0")
        assert browser.run(told) == [], path


def test_a_browser_that_was_not_let_in_is_told_what_to_do(chromium: Browser, service: Service, axe: str) -> None:
    chromium.look()
    chromium.open(f"{service.address}/login?token=spent")
    chromium.open(f"{service.address}/")
    if chromium.run("Boolean(document.querySelector('.who button'))"):
        chromium.run("document.querySelector('.who button').click()")
        chromium.until("document.querySelector('.command')")
    assert chromium.run("document.querySelector('h1').textContent") == "Let this browser in"
    assert chromium.run("document.querySelector('.command').textContent") == "hardwon open"
    chromium.run(f"{axe};0")
    assert chromium.run("axe.run().then(found => found.violations.map(one => one.id))") == []


def test_what_can_be_pressed_has_a_name_and_is_large_enough(browser: Browser, service: Service) -> None:
    browser.look(width=390)
    unnamed = """[...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea')].filter(
        each => !(each.textContent.trim() || each.getAttribute('aria-label') || each.labels?.length)).map(
        each => each.outerHTML)"""
    small = """[...document.querySelectorAll(`main button:not(.plain), main select, main input:not([type=hidden],
        [type=checkbox],[type=range])`)].filter(each => each.offsetParent && each.offsetHeight < 32).map(
        each => each.outerHTML)"""
    for path in PAGES:
        browser.open(service.address + path)
        assert browser.run(unnamed) == [], path
        assert browser.run(small) == [], path


def test_candidates_are_decided_by_keys_and_every_step_is_undone(browser: Browser, service: Service) -> None:
    def heading() -> str:
        return str(browser.run("document.querySelector('.candidate .lesson')?.textContent"))

    def gone(before: str) -> None:
        browser.until(f"document.querySelector('.candidate .lesson')?.textContent !== {json.dumps(before)}")
        browser.until("!document.body.hasAttribute('aria-busy')")

    def status(words: str) -> str:
        listed = service.get("/api/lessons", project="tidepool", limit=200)["items"]
        return next(str(one["status"]) for one in listed if one["text"] == words)

    browser.open(f"{service.address}/review")
    first = heading()
    browser.press("y")
    gone(first)
    assert status(first) == "active"
    browser.press("u")
    browser.until("document.querySelector('.toast:empty')")
    assert status(first) == "candidate"
    browser.open(f"{service.address}/review")
    assert heading() == first
    browser.press("n")
    gone(first)
    assert status(first) == "invalid"
    second = heading()
    browser.press("s")
    gone(second)
    assert status(second) == "candidate"
    third = heading()
    browser.press("e")
    browser.until("document.activeElement.tagName === 'TEXTAREA'")
    browser.run("document.activeElement.select()")
    browser.type("Buoys, yes or no.")  # keys of a text decide nothing
    browser.run("document.querySelector('.candidate .primary').click()")
    browser.until("document.querySelector('.toast')?.textContent.includes('Edited')")
    assert status("Buoys, yes or no.") == "active"
    fourth = heading()
    assert third != fourth
    browser.run("document.querySelector('[data-key=m]')?.scrollIntoView()")
    browser.press("m")
    gone(fourth)
    assert status(fourth) != "active"
    quiet(browser, service)


def test_lessons_are_found_while_one_types_and_the_address_keeps_the_question(
    browser: Browser, service: Service
) -> None:
    browser.open(f"{service.address}/lessons")
    browser.press("/")
    browser.type("migrations")
    browser.until("location.search.includes('q=migrations')")
    browser.until("document.querySelector('.lessons a').textContent.includes('migrations/versions')")
    assert browser.run("document.activeElement.value") == "migrations"
    found = browser.text()
    browser.open(browser.run("location.href"))
    assert "migrations/versions" in browser.text()
    assert "“migrations”" in found
    quiet(browser, service)


def test_a_token_lets_a_browser_in_by_the_form_and_out_again(chromium: Browser, service: Service) -> None:
    """Forms are sent by the browser itself, with the origin that the service asks for."""
    token = service.make_token("formal", "read")
    chromium.open(f"{service.address}/lessons")
    if chromium.run("Boolean(document.querySelector('.who button'))"):
        chromium.run("document.querySelector('.who button').click()")
    chromium.until("document.querySelector('[name=token]')")
    chromium.run(f"document.querySelector('[name=token]').value = {json.dumps(token)}")
    chromium.run("document.querySelector('[name=token]').form.requestSubmit()")
    chromium.until("document.querySelector('.who')?.textContent.includes('formal')")


def test_a_home_without_data_is_filled_from_the_page_and_tells_how_far_it_is(chromium: Browser, tmp_path: Path) -> None:
    kept = tmp_path / ".claude" / "projects" / "sloop"
    for number in range(12):
        session = ClaudeSession(f"first-{number}", cwd="/srv/sloop", day=1 + number)
        session.user("Always use sloopctl in this project.").says("I will.")
        session.write(kept)
    own = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    with served({**environment(tmp_path / "hardwon", Path()), **UNHURRIED, **own}) as empty:
        for noted in (chromium.complaints, chromium.asked):
            noted.clear()
        chromium.look()
        chromium.open(f"{empty.address}/login?token={empty.hardwon_link()}")
        assert "Nothing was learned yet" in chromium.text()
        chromium.run("document.querySelector('main .primary').click()")
        chromium.until("document.querySelector('.hero')")  # the end is told, and the page looks again by itself
        assert "12 sessions" in chromium.text()
        assert any(address.endswith("/harvest/events") for address in chromium.asked)
        quiet(chromium, empty)


def test_a_session_is_searched_and_tells_what_it_changed_and_how_to_go_on(browser: Browser, service: Service) -> None:
    listed = service.get("/api/sessions", limit=200)["items"]
    changed = service.get("/api/attempts", limit=200)["items"]
    id = next(one["session"] for one in changed if one["files_modified"])
    assert id in {one["id"] for one in listed}
    browser.open(f"{service.address}/sessions/{id}")
    assert "What it changed" in browser.text()
    assert "Go on with it" in browser.text()
    word = browser.run("document.querySelector('.transcript .said p').textContent.match(/[a-zA-Z]{5,}/)[0]")
    browser.press("/")
    browser.type(word)
    browser.until("document.querySelector('#results mark')")
    assert str(browser.run("document.querySelector('#results mark').textContent")).lower() == word.lower()
    browser.run("document.querySelector('#results li a').click()")
    browser.until("location.hash.startsWith('#m')")
    browser.until("document.querySelector('.transcript li:target')")
    quiet(browser, service)


MESSAGES = int(os.environ.get("LONG_TRANSCRIPT", "1000"))


def test_a_long_session_is_scrolled_to_its_end(chromium: Browser, tmp_path: Path) -> None:
    session = ClaudeSession("voyage")
    for number in range(MESSAGES // 2):
        session.user(f"How deep is it at buoy {number}?").says(f"At buoy {number} it is\n\n" + "deep. " * 40)
    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)], mine=True)
        id = memory.sessions.list()[0].id
    with served({**environment(home, Path()), **UNHURRIED}) as service:
        chromium.look()
        chromium.open(f"{service.address}/login?token={service.hardwon_link()}")
        chromium.open(f"{service.address}/sessions/{id}")
        took = chromium.run("""(async () => {
            const frames = []; let last = performance.now();
            while (document.querySelector('[data-on]') || scrollY + innerHeight < document.body.scrollHeight - 5) {
              scrollBy(0, 2000);
              await new Promise(requestAnimationFrame);
              frames.push(performance.now() - last); last = performance.now();
            }
            return frames.sort((a, b) => a - b);
        })()""")
        assert chromium.run("document.querySelectorAll('.transcript li').length") == MESSAGES
        last = f"document.querySelector('#m{MESSAGES - 1}').textContent.includes('buoy {MESSAGES // 2 - 1} ')"
        assert chromium.run(last)
        assert took[len(took) // 2] < 200  # milliseconds of a frame, on a machine that draws in software


def test_a_token_is_made_and_revoked_and_a_setting_changed(browser: Browser, service: Service) -> None:
    browser.open(f"{service.address}/settings")
    browser.run("document.querySelector('details').open = true")
    browser.run("document.querySelector('form[action=\"/settings/tokens\"] [name=name]').value = 'deckhand'")
    browser.run("document.querySelector('form[action=\"/settings/tokens\"]').requestSubmit()")
    browser.until("document.querySelector('.secret')")
    secret = str(browser.run("document.querySelector('.secret').textContent"))
    assert service.get("/api/me", token=secret)["name"] == "deckhand"
    browser.run("document.querySelector('[aria-label=\"Revoke deckhand\"]').click()")
    browser.until("location.pathname === '/settings' && !document.querySelector('[aria-label=\"Revoke deckhand\"]')")
    assert service.call("GET", "/api/me", token=secret).status == 401
    browser.run("document.querySelector('[aria-label=budget]').value = '777'")
    browser.run("document.querySelector('[aria-label=\"Save budget\"]').click()")
    browser.until("document.querySelector('.note.good')?.textContent.includes('budget is changed')")
    browser.open(f"{service.address}/briefing")
    browser.until("document.body?.innerText.includes('777 tokens')")


def test_every_operation_is_told_in_words(browser: Browser, service: Service) -> None:
    browser.open(f"{service.address}/openapi")
    paths = service.get("/schema")["paths"]
    told = browser.run("[...document.querySelectorAll('details summary')].map(each => each.textContent)")
    assert len(told) == sum(map(len, paths.values()))
    assert all(len(one.split()) > 3 for one in told), told
    quiet(browser, service)


def test_a_service_that_has_ended_is_said(chromium: Browser, tmp_path: Path) -> None:
    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        memory.harvest([EXAMPLES], mine=True)
    with served({**environment(home, Path()), **UNHURRIED}) as ending:
        chromium.open(f"{ending.address}/login?token={ending.hardwon_link()}")
        chromium.open(f"{ending.address}/lessons")
    chromium.press("/")
    chromium.type("x")
    chromium.until("!document.getElementById('trouble').hidden")
    assert "hardwon open" in chromium.text()


EVERY_PAYLOAD = "EVERY_PAYLOAD" in os.environ
"""Every text through every field and each page of them, which takes minutes; else every text through some field."""


def hostile(number: int, field: int) -> str:
    """Over all numbers, each field gets every text."""
    return PAYLOADS[(number + 37 * field) % len(PAYLOADS)]


def filled_with_hostile_texts(home: Path, folder: Path) -> tuple[str, str, str]:
    """(project, token, session)."""
    with Hardwon(home) as memory:
        paths = []
        for number in range(0, len(PAYLOADS), 1 if EVERY_PAYLOAD else 12):
            some = [hostile(number, field) for field in range(14)]
            session = ClaudeSession(
                f"s-{number}", cwd=f"/srv/work/{some[0].replace('/', ' ')[:60]}", day=1 + number % 27
            )
            for record in session.user(f"Always use {some[1]} in this project.").records:
                record["gitBranch"] = some[2]
            session.says(f"Root cause: {some[3]} is broken.")
            session.run(f"make {some[4]}", f"ModuleNotFoundError: No module named '{some[5]}'", exit_code=1)
            session.run(f"uv sync {some[6]}", some[7]).run(f"make {some[4]}", some[8])
            session.edit(f"src/{some[9]}.py", some[10]).call(some[11][:60], {"path": some[12]}, some[13])
            paths.append(session.write(folder))
        memory.harvest(paths, mine=True)
        project = memory.store.projects()[0].id
        memory.store.describe_project(project, PAYLOADS[0])
        for payload in PAYLOADS:
            memory.lessons.propose(payload, why=payload)
        memory.lessons.propose(" ".join(PAYLOADS[:20]), agent=PAYLOADS[1][:100], session=PAYLOADS[2], why=PAYLOADS[3])
        for number in range(0, len(PAYLOADS), 1 if EVERY_PAYLOAD else 40):
            task, how, wrong, run, tests, diff, path, learned, agent = (hostile(number, field) for field in range(9))
            logged = memory.journal.log(
                Attempt(
                    task_description=task,
                    approach=how,
                    outcome=Outcome.FAILURE,
                    failure_analysis=wrong,
                    run=run[:80],
                    test_results=tests,
                    diff=diff,
                    files_modified=[path],
                    agent=agent[:60],
                )
            )
            memory.journal.reflect(logged, learned)
        memory.store.rename_project(project, PAYLOADS[4])
        shown = memory.sessions.list()[0]
        memory.bootstrap(project, agent=PAYLOADS[9][:60], session=shown.external_id)
        name = "".join(filter(str.isprintable, PAYLOADS[15]))[:80]
        return project, memory.store.make_token(name, ["read", "write", "review", "admin"]).secret, shown.id


def asked_with_hostile_words(project: str, session: str) -> list[str]:
    """Pages that tell what was asked of them."""
    said = quote('"><script>window.ran=1</script>', safe="")
    days = "since=2020-01-01&until=2030-01-01"
    return [
        f"/lessons?q={said}&kind={said}&status={said}&undo={said}", f"/journal?q={said}&run={said}&outcome={said}",
        f"/review?rule={said}&session={said}&did={said}&undo={said}&at={said}", f"/sessions?agent={said}&cursor={said}",
        f"/sessions/{session}?q={said}", f"/sessions/{session}?q=script", f"/failures/met?{days}&which=all",
        f"/failures/met?since={said}&until={said}", f"/failures?fix={said}", f"/settings?saved={said}",
        f"/nowhere/{said}",
        f"/briefing?project={project}&task=script&agent={said}", f"/lessons/{said}", f"/login?token={said}",
    ]  # fmt: skip


def test_no_hostile_text_runs_anywhere(chromium: Browser, tmp_path: Path) -> None:
    assert len(set(PAYLOADS)) >= 300
    home = tmp_path / "hardwon"
    project, token, session = filled_with_hostile_texts(home, tmp_path / "sessions")
    with served({**environment(home, Path()), **UNHURRIED}) as service:
        for kept in (chromium.complaints, chromium.asked, chromium.dialogs):
            kept.clear()
        chromium.look()
        chromium.open(f"{service.address}/login?token={token}")
        looked_at, waiting = set(), [*PAGES, "/lessons?q=script", *asked_with_hostile_words(project, session)]
        while waiting:
            path = waiting.pop(0)
            looked_at.add(path)
            chromium.open(service.address + path)
            harmless(chromium, path)
            more = chromium.run("[...document.querySelectorAll('main a')].map(each => each.getAttribute('href'))")
            followed = [each.partition("#")[0] for each in more if each]
            wanted = [each for each in dict.fromkeys(followed) if each not in looked_at and each not in waiting]
            pages = [each for each in wanted if "cursor=" in each]
            others = [each for each in wanted if each.count("/") == 2 and "?" not in each]
            waiting += pages + (others if EVERY_PAYLOAD else others[:3])
        assert len(looked_at) > 40
        assert chromium.dialogs == []
        assert [each for each in chromium.complaints if not re.search(r"status of 40[0145]", each)] == []
        assert places(chromium) == {service.host}


def harmless(browser: Browser, path: str) -> None:
    assert browser.run("window.ran === undefined"), path
    ours = "[...document.querySelectorAll('script')].map(each => each.getAttribute('src'))"
    assert browser.run(ours) in (["/assets/page.js"], []), path
    strange = "document.querySelectorAll('img, iframe, object, embed, style, base, marquee, math, video, audio').length"
    assert browser.run(strange) == 0, path
    handlers = """[...document.querySelectorAll('*')].flatMap(each => [...each.attributes]).filter(
        each => each.name.startsWith('on') || /^\\s*(javascript|data|vbscript):/i.test(each.value) &&
        ['href', 'src', 'action', 'formaction', 'data'].includes(each.name)).length"""
    assert browser.run(handlers) == 0, path
    source = str(browser.run("document.documentElement.outerHTML"))
    assert not any(sign in source for sign in HIDDEN), path


def test_twenty_candidates_need_no_more_than_a_key_each(browser: Browser, service: Service) -> None:
    for number in range(20):
        service.post("/api/lessons", {"text": f"Rope {number} is {number + 3} fathoms long.", "project": "tidepool"})
    before = service.get("/api/lessons", project="tidepool", status="candidate", limit=200)["items"]
    browser.open(f"{service.address}/review")
    began = time.monotonic()
    for _ in range(20):
        shown = browser.run("document.querySelector('.candidate .lesson').textContent")
        browser.press("n")
        browser.until(f"document.querySelector('.candidate .lesson')?.textContent !== {json.dumps(shown)}")
        browser.until("!document.body.hasAttribute('aria-busy')")
    assert time.monotonic() - began < 60
    after = service.get("/api/lessons", project="tidepool", status="candidate", limit=200)["items"]
    assert len(before) - len(after) == 20


def test_the_scripts_are_small_and_nobody_elses(service: Service) -> None:
    script = service.call("GET", "/assets/page.js").body.decode()
    assert len(script) < 10_000
    assert "://" not in script
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|import\(", script)
    if node := shutil.which("node"):
        subprocess.run([node, "--check", "--input-type=module"], input=script, text=True, check=True)
