"""Words that error messages are made of; none of them tells a reader what to do next."""

from __future__ import annotations

WORDS = frozenset(
    """
a accepts access accessible account active actual added address adjacent after again against algorithm all
allocated allowed already also alternative ambiguity ambiguous amount an and annotation another ansible answer
any api app appear appears application architecture are arg(s) argument argument(s) arguments arithmetic
around array artifact as ascii asked asleep assembly assert assertion assertionerror assignable assigned
assignment async at attempted attribute attributes authentication authored authorization auto-detect automatic
available await awaiting aws back bad base bash be because been before begin behind being between beyond
binary bit block blocked body bool boolean borrow bound bounds brace braces bracket brackets branch branches
break brew broken browser buffer builtin bundle but by byte bytes cache cached callable callback called caller
calls can can't candidate cannot capability cargo case cause caused causes certificate certificate-chain chain
changed changes channel char character characters checked checkout checksum child choice chrome chromium
circular class cli client closed closing code codec collect collected collection column columns comma command
commands commits compared comparing comparison compatible compilation compiled compiler complete component
compose condition config configuration configured conflict conflicting conflicts conform connected connecting
connection connections connectivity console const constant constraint constructor contain container containers
contains content context continuation control conversion converted convertible copied corresponding corrupt
corrupted could couldn't count cpu cpython crashed crate created credentials css csv ctor cuda current
currently cycle cyclic daemon dangling darwin data database date datetime datetimes days dead deadline
deadlock debian debug decimal declaration declarations declare declared declares decoding decorator deeper
default defined definition deleted delimiter denied dependencies dependency depends deprecated depth
dereference descriptor destination destructured detached detected determined dev device did didn't diff
different differing differs digest dimension directive directory dirty disabled disk div diverged divergent
divide division django dns docker dockerfile does doesn't domain double doubled down driver due duplicate
duplicated duplicates during each elapsed element elements email embedded empty enabled encoding encountered
end endpoint engine enough entity entry enum env environment eof equal equality errno error error(s) errors es
escape eslint event every exact exactly exceed exceeded exceeds except exception exclusive executable executed
execution exhausted exhaustive exhaustively exist existing exists exit-code exited expect expected expecting
expects experimental expired explicit explicitly exported exports expression extension external
externally-managed-environment extra f-string fail failed failing fails failure failures false fast-forward
fastapi fatal fetched fewer field fields file file(s) filename files filesystem finds first fixture fixtures
flag flask float folder follow following for forbidden foreign format formatted formatting forward found
fragment frame from frozen full fully function functions future gateway generated generator generic git github
gitlab given global goroutine goroutines got gpu gradle group groups gunicorn had handler handshake has hash
have head header headers headings healthy heap here hint hook hooks host host(s) hostname hours html http
https id identical identified identifier identity if ignored illegal image images immutable implement
implementation implements implicit implicitly import-time imported imports in inaccessible incoming
incompatible incomplete inconsistent incorrect incorrectly indent indentation index indirect inferred infinite
infinity init initial initialised initialized initializer inline inner input inputs inside installed instance
instances instead insufficient int integer integrity interface internal interpolation interpreter interrupt
interrupted into introduced invalid invalidated invocation invoked io is isn't isolated issue issue(s) issues
it item items iterable iteration iterator its jarfile java javascript jest job json kernel key key(s) keys
keyword keywords killed kind known kotlin kubectl kubernetes label language large larger last latest layer
layout lazily lead leading least left legacy len length less level lexical lib library lifecycle lifetime
likely limit line line(s) line-length lines linked linker lint linux list literal literal-only literals llm
loaded loader loading local locale localhost locally located location locations locator lock locked lockfile
log logged login long longer looking lookup lookups loop lost low macos macro main makefile managed manifest
mapping mark matched matcher matches matching maven max maximum may maybe member members memory merged merges
message metadata method methods migration migrations millisecond milliseconds min minimum minutes mismatch
mismatched missing mode modified modifier modifiers module modules more most moved multiple must mutability
mutable mutually mypy mysql naive name named names namespace nan near nearest need needed needs negative
neither nested network never new next nginx nil no no-op node non-fast- non-iterable non-null non-zero none
nonetype nonexistent nonlocal nonzero nor not notation notfound nothing novalue npm null nullable number
numbers numeral numeric object objects obsolete occurred occurrence occurrences of off offending offline
offset offset-aware offset-naive old omitted on once one only opened opening operand operands operation
operations operator option optional options or order origin originally os other out outdated outer output
outside over overflow overlap overload overridden overriding overwritten owned owner package package(s)
packages padding page panicked parameter parameter(s) parameters parent parenthesis parsed parser parsing part
partial partially particular pass passed passing password path paths pathspec pattern payload peer pending
performed perhaps permission permissions permitted persistent phase picked pinned pip pipe place placeholders
plain platform plugin pnpm poetry point pointer policy polymorphic pool port position positional possible
possibly postgres postgresql powershell preceding precision predicate prefix prefixed presence present
prettier previous previously primary prior prisma private privilege privileges problem problem(s) problems
process processed processing produced program programming project promise properly properties property
proposed protected protected-branch protocol provide provided provider provides providing proxy public publish
pyproject pytest python qualified qualifier query queue quota quote quoted raised ran range rate raw reach
reachable reached react read-only readable readers reading readonly reads ready rebasing received recognized
reconcile record recorded recovered recursion recursive redeclared redefined redefinition redis reduce
redundant ref refer reference referenced references reflections reformatted refs refspec refused regex region
registered registry regular rejected rejection rejects related relation relative releases remaining remains
remote removed renamed rendered repeat replaced replacement replica repo report reported repository request
requested requests require required requirement requirements requires reserved reset-by-peer resolution
resolved resolver resolves resource resources respond responded response restricted result results retries
returned returns revision revoked rewritten right role rollback root route row rows ruby ruff rule rules
running runs runtime rust rustc s3 safe safely same sandbox satisfied satisfies satisfy scanning schema scope
scopes script scripts sealed search search/replace second seconds section secure seen segment segmentation
selected self self-signed semantic semicolon sent separate separator sequence serializable serialized server
service session setting settings setup shadow shadowed shadows shape shared sharing shell short should side
signal signature signed significantly simple since single single-quoted size skip-worktree skipped slice small
smaller socket soft solution solver solving some sorted source space spec specification specified specifier
specifiers sql sqlite ssh ssl stack stage staged stale standard started starting state statement statements
static status std stderr stdin stdlib stdout step still stopped stopping storage str stream strict strictly
string strings struct structure stub stubs style subclass subcommand submodule subprocess subprojects
subscriptable subtree subtype success successful successfully such suffix suite summary superclass supplied
support supported supports swift switch symbol symlink syntax system table tables tag target targets task tcp
template temporarily temporary terminal terminated ternary terraform test test(s) tests text than that the
then these this those thread through thrown time timed timeout timestamp timezone tip tls to token tokenize
tokens toml too tool top topological total trace traceback tracked tracking trailing trait traits transaction
transitive tree trees tried true truncated truncation truthy trying tsconfig tuple two type typed types
typescript typo ubuntu udp unable unary unauthenticated unauthorized unavailable unbound uncaught unchanged
unclosed uncommitted undeclared undefined under unescaped unexpected unexpectedly unfinished unhandled
unhealthy unicode unimplemented unindent uninstalled union unique uniquely unit unknown unknown-revision
unlisted unmatched unmerged unpack unpaired unpublished unqualified unreachable unreadable unrecognized
unrelated unresolvable unresolved unsafe unsatisfiable unsatisfied unset unsigned unspecified unstable
unstaged unstaged-changes unsupported unterminated until untracked untyped unused unwrap unwrapped up updated
updates upper upstream upstreams url usable usage used user uses using usize utf uv valid validation validator
value values variable variables variant vector vendor venv verbatim verification verified version versioned
versions vet via violates violation virtual virtualenv visibility visible vite vitest void volumes vue waiting
want wanted wants warning warnings was wasm wasn't webpack well-formed were wheel when where which while
whitespace whole wide width will windows with within without worker workflow working workspace workspaces
worktree would wouldn't wrapper writable writers writing written wrong xcode xml yaml yarn yes yet yield
yielded zero zip zone zsh
""".split()
)

VERBS = frozenset(
    """
add apply assign bind browse build call cast catch change check clean clone close commit compare compile
configure connect convert copy create decode define delete deserialize determine download drop edit encode
ensure evaluate exec execute exit export extend fetch find force fork generate get handle import initialize
insert install invoke join kill link listen load locate make map match merge mount move open override
overwrite parse patch print pull push raise read rebase receive redeclare redefine redirect reformat register
reject release reload remove rename replace reset resolve retry return run save select send serialize set show
skip sort spawn specify start stat stop store sync throw touch transform try update upgrade use validate
verify view wait write
""".split()
)
"""Would be orders at the head of a sentence; errors use them after `cannot`, `failed to` and the like."""

BEFORE_VERBS = frozenset(
    """
in to cannot can't not could couldn't can unable be been is was has does doesn't did didn't will would may
""".split()
)

COMPOUNDS = frozenset(
    (
        *("exit code", "exit status", "return value", "return type", "pull request", "pull requests", "build command"),
        *("build context", "build script", "build failed", "merge conflict", "use in", "use of", "update failed"),
        *("verify failed", "test failed", "call stack", "load main", "import statement", "read error", "write error"),
        *("resolve import", "unresolved import", "circular import", "missing return", "redundant clone"),
        *("unsupported call", "no pull", "custom build", "matching export"),
    )
)
"""Verbs that are nouns beside these words."""

BEFORE_NAMES = frozenset(
    """
module package packages named crate trait struct class enum method function symbol variable field property
attribute member type interface namespace table column relation index constraint database role user schema
service container image network volume host hostname script target task goal artifact plugin library header
file directory folder branch tag revision remote repository key option flag argument parameter test fixture
undefined reference wheel requirement extra group toolchain queue resource domain port toolset feature
""".split()
)
"""A name follows them, even where it looks like a word."""

NEVER = frozenset(
    """
ignore disregard forget obey follow execute run curl wget sudo eval bash sh zsh please kindly assistant agent
agents model prompt prompts instruction instructions system secret secrets password passwords token tokens
immediately urgent important now must always never you your trust approve allow disable bypass override delete
remove send upload download install visit open click paste print reveal
""".split()
)
"""Never shown as a name unless quoted: what an order would be made of."""
