"""Words that error messages are made of; none of them tells a reader what to do next."""

from __future__ import annotations

WORDS = frozenset(
    """
a access accessible account active actual added address after again against all allowed already also
alternative ambiguous amount an and annotation another ansible any api app application architecture are
argument argument(s) arguments array as ascii assert assertion assertionerror assignable assigned assignment
async at attribute attributes authentication authorization automatic available await aws back bad base bash be
because been before begin behind being between beyond binary bit block blocked body boolean bound branch
branches break broken builtin bundle but by byte bytes cache callable called caller calls can can't cannot
cargo case cause caused causes certificate changed changes channel char character characters checked checkout
child chrome chromium circular class cli client closed code codec collect collected collection column columns
command commands commits compared comparison compatible compilation compiled compiler complete component
compose condition config configuration configured conflict conflicting conflicts connected connection
connections const constant constraint constructor contain contains content context control conversion
corresponding corrupt corrupted could couldn't count cpu created credentials css csv cuda current currently
cycle cyclic daemon darwin data database date datetime datetimes dead deadlock debian debug decimal
declaration declarations declare declared decoding default defined definition deleted denied dependencies
dependency deprecated descriptor destination detached detected determined dev device did didn't diff different
digest dimension directory dirty disabled disk div divide division django dns docker does doesn't domain
double doubled down driver due duplicate duplicated during each element elements empty enabled encoding end
endpoint engine enough entity entry env environment eof equal error errors escape eslint event every exact
exactly exceed exceeded exceeds except exception exclusive executable executed execution exist existing exists
exited expect expected expects experimental expired explicit explicitly exported exports expression extension
extra fail failed failing fails failure failures false fast-forward fastapi fatal fetched field fields file
file(s) filename files filesystem finds first fixture flag flask float folder follow following for forbidden
foreign format formatted forward found frame from frozen full function functions future gateway generated
generator generic git github gitlab given global got gpu gradle group groups gunicorn had handler handshake
has hash have head header headers here hint hook hooks host hostname html http https id identical identifier
identity if ignored illegal implementation implicit implicitly imported imports in inaccessible incoming
incompatible incomplete incorrect indent indentation index infinite init initial initialized initializer
inline input inside installed instance instead insufficient int integer integrity interface internal
interpreter interrupt interrupted into invalid invocation io is issue issues it item items iterable iterator
its java javascript jest job json key key(s) keys keyword killed kind known kubectl kubernetes label language
large last latest layer layout lead leading least left length less level lib library limit line lines linked
linker lint linux list literal loaded loader loading local locale located location locations lock locked
lockfile log long lookup loop lost low macos main manifest mapping mark matched matches matching maven max
maximum may member members memory merged message metadata method methods migration migrations min minimum
mismatch missing mode modified modifier modifiers module modules more most moved multiple must mutable
mutually mysql naive name named names namespace nan need needed needs negative nested network new next nginx
no node non-fast- none nonexistent nonzero nor not notation nothing npm null number numbers numeric object
objects obsolete occurred of off offset offset-aware offset-naive old on once one only opened operand operands
operation operations operator option optional options or order origin os other out outdated output outside
over overflow overlap overload overwritten owner package packages page parameter parameter(s) parameters
parent parsed parser parsing part partial pass passed passing password path paths pathspec pattern payload
peer pending permission permissions permitted pip pipe place platform plugin pnpm point pointer policy pool
port position positional possible possibly postgres postgresql powershell precision prefix present prettier
previous primary prior private privilege privileges process processed processing program project promise
properties property protected protocol provide provided provider proxy public publish pytest python query
queue quota quote raised ran range rate raw reach reachable reached react read-only readable reading readonly
ready rebasing received recognized record recorded recursion recursive redis reduce ref refer reference
referenced references refs refspec refused regex region registered registry rejected related relation relative
remote removed rendered repeat replaced repo report repository request requested requests require required
requirement requirements requires reserved resolved resource resources response restricted result results
returned returns revision right role rollback root route row rows rule rules running runs runtime rust s3 safe
same sandbox schema scope script scripts second seconds section secure segment segmentation self semantic sent
separator sequence server service session setting settings setup shadow shape shared shell short should side
signal signature single size skipped slice small socket some source space spec specified specifier sql sqlite
ssh ssl stack stage staged stale standard started starting state statement static status stderr stdin stdout
step still stopped storage stream strict string strings struct structure style submodule subprocess
subscriptable success such suffix suite support supported symbol symlink syntax system table tables tag target
targets task tcp template temporary terminal terminated terraform test tests text than that the then these
this those thread thrown time timed timeout timestamp timezone tls to token tokens toml too tool top total
trace traceback tracked trailing transaction tree true truncated tuple two type typed types typescript ubuntu
udp unable unauthorized unavailable unbound unclosed uncommitted undeclared undefined under unexpected
unhandled unicode unimplemented union unique unit unknown unlisted unmatched unmerged unreachable unrecognized
unrelated unresolved unstaged unsupported unterminated untracked unused unwrap up updated updates upstream url
usable usage used user uses using utf uv valid validation value values variable variables variant vector
verification verified version versions via violates violation virtual visible vite vitest void vue waiting
warning was wasn't webpack were when where which while whitespace wide width will windows with within without
worker working workspace worktree would wrapper writable writing written wrong xml yaml yarn yet yield zero
zsh
""".split()
)

VERBS = frozenset(
    """
add apply assign bind build call cast catch change check clean clone close commit compare compile configure
connect convert copy create decode define delete deserialize download drop encode ensure evaluate exec execute
exit export fetch find force fork generate get handle import initialize insert install join kill link listen
load locate make map match merge mount move open override parse patch pull push raise read rebase receive
redeclare redefine redirect register reject release reload remove rename replace reset resolve retry return
run save select send serialize set skip start stop store switch sync throw transform try update upgrade use
validate verify view wait write
""".split()
)
"""Would be orders at the head of a sentence; errors use them after `cannot`, `failed to` and the like."""

BEFORE_VERBS = frozenset(
    "in to cannot can't not could couldn't can unable be been is was has does doesn't did didn't will would may".split()
)
