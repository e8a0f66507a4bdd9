"""The pages in a real Chromium: each one's main task, the keyboard, both themes, a phone, and hostile texts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from benchmarks.filled import fill, fill_sessions
from playwright.sync_api import Browser

from hardwon import Hardwon
from hardwon.model.attempt import Attempt, Outcome
from hardwon.sessions.project import Project
from tests.conftest import EVERY_PAYLOAD, EXAMPLES, ClaudeSession
from tests.serve.browser import PROGRAM, Tab, chromium
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
    "/search",
    "/briefing",
    "/projects",
    "/proof",
    "/doctor",
    "/settings",
    "/openapi",
)
Tabs = Callable[..., Tab]
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
def program() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def tabs(program: Browser) -> Iterator[Tabs]:
    """Opens tabs that nobody let in."""
    opened: list[Tab] = []

    def opens(**look: Any) -> Tab:
        opened.append(Tab(program, **look))
        return opened[-1]

    yield opens
    for tab in opened:
        tab.close()


@pytest.fixture
def stranger(tabs: Tabs) -> Tab:
    return tabs()


@pytest.fixture
def browser(stranger: Tab, service: Service) -> Tab:
    return let_in(stranger, service)


def let_in(tab: Tab, service: Service) -> Tab:
    """By a link."""
    tab.page.goto(f"{service.address}/login?token={service.hardwon_link()}")
    assert tab.run("location.pathname") == "/"
    return tab


def quiet(tab: Tab, service: Service) -> None:
    assert tab.complaints == []
    assert tab.places() == {service.host}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_and_is_quiet(tabs: Tabs, service: Service, width: int, dark: bool) -> None:
    browser = let_in(tabs(width=width, dark=dark), service)
    for path in PAGES:
        browser.page.goto(service.address + path)
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
def test_axe_finds_nothing_on_any_page(tabs: Tabs, service: Service, axe: str, dark: bool) -> None:
    """In the dark the colours alone are looked at anew."""
    browser = let_in(tabs(dark=dark), service)
    rules = "{runOnly: ['color-contrast']}" if dark else "{}"
    told = f"axe.run(document, {rules}).then(found => found.violations.map(one => [one.id, one.nodes[0].html]))"
    tried = next(one for one in service.get("/api/attempts", limit=200)["items"] if one["files"])
    details = [
        f"/{kind}/{service.get(f'/api/{kind}')['items'][0]['id']}" for kind in ("failures", "lessons", "sessions")
    ]
    days = urlencode({"since": "2020-01-01", "until": "2030-01-01"})
    more = ["/lessons/new", "/review?edit=true", f"/journal/{tried['id']}", f"/sessions/{tried['session']}?q=test"]
    more += ["/briefing?task=mend+the+tests", "/lessons?q=tests", f"/failures/met?{days}", "/nowhere"]
    more += ["/search?q=tests", "/search?q=xyzzyplugh&type=lesson"]
    more += ["/proof/told", "/proof/hooks", "/proof/replayed"]
    for path in (*PAGES, *details, *more):
        browser.page.goto(service.address + path)
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
        browser.run(f"{axe};0")
        assert browser.run(told) == [], path


def test_a_browser_that_was_not_let_in_is_told_what_to_do(stranger: Tab, service: Service, axe: str) -> None:
    stranger.page.goto(f"{service.address}/login?token=spent")
    stranger.page.goto(f"{service.address}/")
    assert stranger.run("document.querySelector('h1').textContent") == "Let this browser in"
    assert stranger.run("document.querySelector('.command').textContent") == "hardwon open"
    stranger.run(f"{axe};0")
    assert stranger.run("axe.run().then(found => found.violations.map(one => one.id))") == []


def test_what_can_be_pressed_has_a_name_and_is_large_enough(tabs: Tabs, service: Service) -> None:
    browser = let_in(tabs(width=390), service)
    unnamed = """[...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea')].filter(
        each => !(each.textContent.trim() || each.getAttribute('aria-label') || each.labels?.length)).map(
        each => each.outerHTML)"""
    small = """[...document.querySelectorAll(`main button:not(.plain), main select, main input:not([type=hidden],
        [type=checkbox],[type=range])`)].filter(each => each.offsetParent && each.offsetHeight < 32).map(
        each => each.outerHTML)"""
    for path in PAGES:
        browser.page.goto(service.address + path)
        assert browser.run(unnamed) == [], path
        assert browser.run(small) == [], path


def test_candidates_are_decided_by_keys_and_every_step_is_undone(browser: Tab, service: Service) -> None:
    def heading() -> str:
        return str(browser.run("document.querySelector('.candidate .lesson')?.textContent"))

    def gone(before: str) -> None:
        browser.until(f"document.querySelector('.candidate .lesson')?.textContent !== {json.dumps(before)}")
        browser.until("!document.body.hasAttribute('aria-busy')")

    def status(words: str) -> str:
        listed = service.get("/api/lessons", project="tidepool", limit=200)["items"]
        return next(str(one["status"]) for one in listed if one["text"] == words)

    browser.page.goto(f"{service.address}/review")
    first = heading()
    browser.keys.press("y")
    gone(first)
    assert status(first) == "active"
    browser.keys.press("u")
    browser.until("document.querySelector('.toast:empty')")
    assert status(first) == "candidate"
    browser.page.goto(f"{service.address}/review")
    assert heading() == first
    browser.keys.press("n")
    gone(first)
    assert status(first) == "invalid"
    second = heading()
    browser.keys.press("s")
    gone(second)
    assert status(second) == "candidate"
    third = heading()
    browser.keys.press("e")
    browser.until("document.activeElement.tagName === 'TEXTAREA'")
    browser.run("document.activeElement.select()")
    browser.keys.type("Buoys, yes or no.")  # keys of a text decide nothing
    browser.page.click(".candidate .primary")
    browser.until("document.querySelector('.toast')?.textContent.includes('Edited')")
    assert status("Buoys, yes or no.") == "active"
    fourth = heading()
    assert third != fourth
    browser.run("document.querySelector('[data-key=m]')?.scrollIntoView()")
    browser.keys.press("m")
    gone(fourth)
    assert status(fourth) != "active"
    quiet(browser, service)


def test_lessons_are_found_while_one_types_and_the_address_keeps_the_question(browser: Tab, service: Service) -> None:
    browser.page.goto(f"{service.address}/lessons")
    browser.keys.press("/")
    browser.keys.type("migrations")
    browser.until("location.search.includes('q=migrations')")
    browser.until("document.querySelector('.lessons a').textContent.includes('migrations/versions')")
    assert browser.run("document.activeElement.value") == "migrations"
    found = browser.text()
    browser.page.goto(browser.run("location.href"))
    assert "migrations/versions" in browser.text()
    assert "“migrations”" in found
    quiet(browser, service)


def test_everything_is_searched_from_any_page_and_a_passage_leads_to_its_message(
    browser: Tab, service: Service
) -> None:
    browser.page.goto(f"{service.address}/proof")
    browser.keys.press("/")
    browser.keys.type("migrations")
    with browser.page.expect_navigation():
        browser.keys.press("Enter")
    assert browser.run("location.pathname + location.search") == "/search?q=migrations"
    assert "Never edit files under migrations/versions by hand." in browser.text()
    browser.page.select_option("[name=type]", "session")
    browser.until("location.search.includes('type=session')")
    browser.until("!document.querySelector('main a[href^=\"/lessons/\"]')")
    assert browser.run("document.querySelector('.find [name=q]').value") == "migrations"
    assert browser.run("document.querySelector('.find [name=type]').value") == "session"
    assert "migrations" in str(browser.page.text_content("#said mark")).lower()
    with browser.page.expect_navigation():
        browser.page.click("#said a")
    browser.until("document.querySelector('.transcript li:target')")
    quiet(browser, service)


def test_lists_are_walked_by_keys_and_chosen_from_one_to_another(browser: Tab, service: Service) -> None:
    browser.page.goto(f"{service.address}/failures?period=all")
    for key in "jjk":
        browser.keys.press(key)
    first = browser.run("document.querySelector('tbody a.error').getAttribute('href')")
    assert browser.run("document.activeElement.getAttribute('href')") == first
    with browser.page.expect_navigation():
        browser.keys.press("Enter")
    assert browser.run("location.pathname") == first
    browser.page.goto(f"{service.address}/lessons")
    boxes = browser.page.locator(".chosen > input")
    boxes.nth(0).click()
    boxes.nth(3).click(modifiers=["Shift"])
    assert browser.page.text_content("[data-chosen]") == "4"
    browser.page.check("[data-all]")
    assert browser.page.text_content("[data-chosen]") == str(boxes.count())
    quiet(browser, service)


@pytest.mark.parametrize(
    ("path", "button", "text"),
    [
        ("/failures?period=all", "[value=mute]", ""),
        ("/lessons?status=active", "[value=archive]", ""),
        ("/projects", "[value=archive]", ""),
        ("/journal?outcome=all", "text=Write it down", "Sound the depth before the anchor drops."),
    ],
)
def test_many_rows_are_changed_at_once_and_a_key_takes_it_back(
    browser: Tab, service: Service, path: str, button: str, text: str
) -> None:
    def rows() -> str:
        return str(browser.run("[...document.querySelectorAll('.chosen')].map(each => each.textContent).join()"))

    browser.page.goto(service.address + path)
    before, bar = rows(), browser.page.locator(".many")
    assert not bar.is_visible()
    browser.page.locator(".chosen > input").first.check()
    browser.page.check("[data-all]")
    number = browser.page.locator(".chosen > input").count()
    assert browser.page.text_content("[data-chosen]") == str(number)
    if text:
        browser.page.fill(".many [name=reflection]", text)
    with browser.page.expect_navigation():
        bar.locator(button).click()
    assert re.match(r"\d+ \w+ changed", browser.page.inner_text(".toast"))
    with browser.page.expect_navigation():
        browser.keys.press("u")
    browser.page.goto(service.address + path)
    assert rows() == before
    quiet(browser, service)


def test_a_token_lets_a_browser_in_by_the_form_and_out_again(stranger: Tab, service: Service) -> None:
    """Forms are sent by the browser itself, with the origin that the service asks for."""
    token = service.make_token("formal", "read")
    stranger.page.goto(f"{service.address}/lessons")
    stranger.page.click("summary")
    stranger.page.fill("[name=token]", token)
    stranger.keys.press("Enter")
    stranger.page.wait_for_selector(".who:has-text('formal')")
    stranger.page.click(".who button")
    stranger.page.wait_for_selector("text=Let this browser in")


def test_a_home_without_data_is_filled_from_the_page_and_tells_how_far_it_is(stranger: Tab, tmp_path: Path) -> None:
    kept = tmp_path / ".claude" / "projects" / "sloop"
    for number in range(12):
        session = ClaudeSession(f"first-{number}", cwd="/srv/sloop", day=1 + number)
        session.user("Always use sloopctl in this project.").says("I will.")
        session.write(kept)
    own = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    with served({**environment(tmp_path / "hardwon", Path()), **UNHURRIED, **own}) as empty:
        let_in(stranger, empty)
        assert "Nothing learned yet" in stranger.text()
        stranger.page.click("main .primary")
        stranger.page.wait_for_selector(".hero")  # the end is told, and the page looks again by itself
        assert "12 sessions" in stranger.text()
        assert any(address.endswith("/harvest/events") for address in stranger.asked)
        quiet(stranger, empty)


def test_a_session_is_searched_and_tells_what_it_changed_and_how_to_go_on(browser: Tab, service: Service) -> None:
    listed = service.get("/api/sessions", limit=200)["items"]
    changed = service.get("/api/attempts", limit=200)["items"]
    id = next(one["session"] for one in changed if one["files"])
    assert id in {one["id"] for one in listed}
    browser.page.goto(f"{service.address}/sessions/{id}")
    assert "What it changed" in browser.text()
    assert "Resume:" in browser.text()
    word = browser.run("document.querySelector('.transcript .said p').textContent.match(/[a-zA-Z]{5,}/)[0]")
    browser.keys.press("/")
    browser.keys.type(word)
    assert str(browser.page.text_content("#results mark")).lower() == word.lower()
    browser.page.click("#results li a")
    browser.until("location.hash.startsWith('#m')")
    browser.until("document.querySelector('.transcript li:target')")
    quiet(browser, service)


MESSAGES = 5_000
SCROLLED = """async (step) => {
    let last = performance.now(), at = -1;
    const gaps = [], rows = [];
    while (at !== scrollY) {
        at = scrollY;
        scrollBy(0, step);
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        gaps.push(now - last);
        last = now;
        rows.push(document.querySelectorAll('.transcript li').length);
    }
    return [gaps.sort((a, b) => a - b), Math.max(...rows)];
}"""
"""Down a page, frame by frame: (how long each took, sorted; the most messages that were in the page)."""
SEEN = """[50, 450, 850].every(y => document.elementFromPoint(640, y)?.closest('.transcript li'))"""


def test_five_thousand_messages_scroll_smoothly(stranger: Tab, tmp_path: Path) -> None:
    session = ClaudeSession("voyage")
    for number in range(MESSAGES // 2):
        session.user(f"How deep is it at buoy {number}?").says(
            f"At buoy {number} it is\n\n" + "deep. " * (number % 200)
        )
    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)], mine=True)
        id = memory.sessions.list()[0].id
    with served({**environment(home, Path()), **UNHURRIED}) as service:
        page = let_in(stranger, service).page
        stranger.run("document.getElementById('main').style.height = '100000px'")
        usual, _ = page.evaluate(SCROLLED, 500)
        for last in (False, False, True):  # the machine may have been busy elsewhere
            page.goto(f"{service.address}/sessions/{id}")
            taken, most = page.evaluate(SCROLLED, 2_000)
            shares = ((0.5, 2), (0.95, 5))
            smooth = all(taken[int(len(taken) * at)] < times * usual[int(len(usual) * at)] for at, times in shares)
            if smooth or last:
                break
        assert smooth
        assert len(taken) > 200
        assert most <= 500
        stranger.run("scrollTo(0, document.body.scrollHeight)")
        stranger.until(f"document.querySelector('#m{MESSAGES - 1}')?.textContent.includes('buoy {MESSAGES // 2 - 1} ')")
        for tenth in (5, 1, 9, 3, 7, 0.2, 9.5, 5):
            stranger.run(f"scrollTo(0, document.body.scrollHeight * {tenth} / 10)")
            stranger.until(SEEN)
        page.goto(f"{service.address}/sessions/{id}?at=3333#m3333")
        stranger.until(
            "(at => at >= 0 && at < innerHeight)(document.querySelector('#m3333')?.getBoundingClientRect().top)"
        )
        quiet(stranger, service)


def test_a_token_is_made_and_revoked_and_a_setting_changed(browser: Tab, service: Service) -> None:
    browser.page.goto(f"{service.address}/settings")
    browser.page.click("text=Make a token")
    browser.page.fill("form[action='/settings/tokens'] [name=name]", "deckhand")
    browser.page.click("text=Make it")
    secret = browser.page.text_content(".secret")
    assert service.get("/api/me", token=secret)["name"] == "deckhand"
    browser.page.click("[aria-label='Revoke deckhand']")
    browser.page.wait_for_selector("[aria-label='Revoke deckhand']", state="detached")
    assert service.call("GET", "/api/me", token=secret).status == 401
    browser.page.fill("[aria-label^='Length of a briefing']", "777")
    browser.page.click("[aria-label^='Save: Length of a briefing']")
    browser.page.wait_for_selector(".note.good:has-text('was changed')")
    browser.page.goto(f"{service.address}/briefing")
    assert "777 tokens" in browser.text()


def test_every_operation_is_told_in_words(browser: Tab, service: Service) -> None:
    browser.page.goto(f"{service.address}/openapi")
    paths = service.get("/schema")["paths"]
    told = browser.run("[...document.querySelectorAll('details summary')].map(each => each.textContent)")
    assert len(told) == sum(map(len, paths.values()))
    assert all(len(one.split()) > 3 for one in told), told
    quiet(browser, service)


def test_a_service_that_has_ended_is_said(stranger: Tab, tmp_path: Path) -> None:
    home = tmp_path / "hardwon"
    with Hardwon(home) as memory:
        memory.harvest([EXAMPLES], mine=True)
    with served({**environment(home, Path()), **UNHURRIED}) as ending:
        let_in(stranger, ending).page.goto(f"{ending.address}/lessons")
    stranger.keys.press("/")
    stranger.keys.type("x")
    stranger.until("!document.getElementById('trouble').hidden")
    assert "hardwon open" in stranger.text()


def hostile(number: int, field: int) -> str:
    """Over all numbers, each field gets every text; over some, every text goes through some field."""
    return PAYLOADS[(number + 37 * field) % len(PAYLOADS)]


def filled_with_hostile_texts(home: Path, folder: Path) -> tuple[str, str, str]:
    """(project, token, session)."""
    with Hardwon(home) as memory:
        paths = []
        for number in range(0, len(PAYLOADS), 1 if EVERY_PAYLOAD else 13):
            some = [hostile(number, field) for field in range(14)]
            session = ClaudeSession(
                f"s-{number}", cwd=f"/srv/work/{some[0].replace('/', ' ')[:60]}", day=1 + number % 27
            )
            if number % 2:
                session.user(f"Implement the following plan:\n\n# Plan: {some[12]} {some[13]}\n\n## Context\nIt leaks.")
            for record in session.user(f"Always use {some[1]} in this project.").records:
                record["gitBranch"] = some[2]
            session.says(f"## Decisions\n- Use {some[3]} rather than rope for the gauges.")
            session.run(f"make {some[4]}", f"ModuleNotFoundError: No module named '{some[5]}'", exit_code=1)
            session.run(f"uv sync {some[6]}", some[7]).run(f"make {some[4]}", some[8])
            unformatted = "".join(some[2].split())
            session.run("black --check .", f"would reformat {unformatted}.py\nOh no!", exit_code=1)
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
                    task=task,
                    approach=how,
                    outcome=Outcome.FAILURE,
                    analysis=wrong,
                    run=run[:80],
                    test_results=tests,
                    diff=diff,
                    files=[path],
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
        f"/failures?kind={said}&undo={said}&whose={said}", f"/projects?undo={said}", f"/journal?undo={said}",
        f"/search?q={said}&type={said}", "/search?q=script", "/search?q=alert&type=session", f"/search?project={said}",
        f"/nowhere/{said}", f"/proof/told?which={said}", f"/proof/replayed?which={said}", f"/progress/{said}/events",
        f"/briefing?project={project}&task=script&agent={said}", f"/lessons/{said}", f"/login?token={said}",
    ]  # fmt: skip


def test_no_hostile_text_runs_anywhere(stranger: Tab, tmp_path: Path) -> None:
    assert len(set(PAYLOADS)) >= 300
    home = tmp_path / "hardwon"
    project, token, session = filled_with_hostile_texts(home, tmp_path / "sessions")
    with served({**environment(home, Path()), **UNHURRIED}) as service:
        stranger.page.goto(f"{service.address}/login?token={token}")
        looked_at, waiting = set(), [*PAGES, "/lessons?q=script", *asked_with_hostile_words(project, session)]
        while waiting:
            path = waiting.pop(0)
            looked_at.add(path)
            stranger.page.goto(service.address + path)
            harmless(stranger, path)
            more = stranger.run("[...document.querySelectorAll('main a')].map(each => each.getAttribute('href'))")
            followed = [each.partition("#")[0] for each in more if each]
            wanted = [each for each in dict.fromkeys(followed) if each not in looked_at and each not in waiting]
            pages = [each for each in wanted if "cursor=" in each or "kind=" in each]
            others = [each for each in wanted if each.count("/") == 2 and "?" not in each]
            waiting += pages + (others if EVERY_PAYLOAD else others[:3])
        assert len(looked_at) > 40
        assert stranger.dialogs == []
        assert [each for each in stranger.complaints if not re.search(r"status of 40[0145]", each)] == []
        assert stranger.places() == {service.host}


def harmless(browser: Tab, path: str) -> None:
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


def test_twenty_candidates_need_no_more_than_a_key_each(browser: Tab, service: Service) -> None:
    for number in range(20):
        service.post("/api/lessons", {"text": f"Rope {number} is {number + 3} fathoms long.", "project": "tidepool"})
    before = service.get("/api/lessons", project="tidepool", status="candidate", limit=200)["items"]
    browser.page.goto(f"{service.address}/review")
    began = time.monotonic()
    for _ in range(20):
        shown = browser.run("document.querySelector('.candidate .lesson').textContent")
        browser.keys.press("n")
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


def test_what_takes_long_to_count_is_put_in_when_it_is_there(stranger: Tab, tmp_path: Path) -> None:
    home, project = tmp_path / "hardwon", Project("git.example/tide", "")
    fill(home, project, 10)
    fill_sessions(home, project, 2_000)
    with served({**environment(home, Path()), **UNHURRIED}) as service:
        let_in(stranger, service)
        shown = stranger.page.goto(f"{service.address}/proof")
        assert "Counting the measures" in shown.text()
        stranger.page.wait_for_selector("table.measures", state="attached")
        assert "Counting the measures" not in stranger.text()
        assert stranger.page.locator("table.measures td.number:not(:has(a))").count() == 0
        quiet(stranger, service)
