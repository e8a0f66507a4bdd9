"""The phrases by which a person tells what is: where things are, what the project is, where and how it runs."""

from __future__ import annotations

from hardwon.harvest.rules.cue import cue

_PLACES = (
    r"docker|podman|(?:dev)?containers?|vms?|virtual machine|wsl2?|kubernetes|k8s|ssh(?: session)?|windows|mac(?:os|"
    r" os)?|"
    r"linux|ubuntu|debian|fedora|arch|nixos|alpine|raspberry pi|aws|gcp|azure|vercel|netlify|heroku|cloudflare|"
    r"codespaces?|"
    r"sandbox|headless|vpn|proxy|nix(?:-shell)?|dev ?shell|conda|virtualenv|venv|colab|lambda|ec2|cluster|server|"
    r"remote (?:machine|host|server)|emulator|simulator"
)
_PARTS = (
    "tests?|suite|build|ci|pipeline|server|app|api|backend|frontend|client|database|db|deployment|scripts?|"
    "migrations?|cli|"
    "linter|workers?|services?|site|website|package|docs|image"
)
_ANY_KIND = (
    "new|nice|great|good|bad|big|small|simple|different|separate|single|whole|very|really|part|bit|list|kind|known"
)

FACTS = (
    cue(
        "location",
        "fact",
        0.8,
        r"^(?:the|our|my) (?:\w+ ){0,3}(?:name|url|path|port|host|branch|command|folder|directory|endpoint|schema|"
        r"table|"
        r"package|device|interface|container|registry|bucket|domain|workspace|namespace) is (?:called |named |at |on )?"
        r"(?:`[^`]+`|https?://\S+|\S*/\S+|[\w-]+[._-]\w+)\W*$",
        names=False,
    ),
    cue(
        "location",
        "fact",
        0.75,
        r"^in (?:the )?(?:`[^`]+`|@?[\w.-]+/[\w./-]*|[\w.-]+ (?:folder|directory)) (?:you(?:['’]ll| will| can)?|there) "
        r"(?:have|find|is|are|see)\b.{10,}",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.75,
        rf"^this is (?:my|our|the) (?!(?:{_ANY_KIND}|current|first|last|only|"
        rf"main)\b)(?:[\w.+#/-]+ ){{1,3}}(?:dir(?:ectory)?|"
        r"folder|root|machine|server|cluster|workspace|checkout|environment)\b",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.7,
        r"^we (?:currently |already |basically |also |now )?have (?:\d+|two|three|four|five|several|multiple|separate) "
        r"(?:\w+ ){0,2}(?!(?:bugs|errors|issues|problems|options|tests|choices|questions|ways)\b)\w+s\b.{8,}",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.7,
        r"^we (?:currently |already |basically |also |now )?have (?:\w+ ){1,6}?(?:set ?up|deployed|hosted|running|"
        r"stored|"
        r"configured) (?:in|on|through|via|with|at|by|using)\s+(?!(?:this|that|it|the same)\b)\S+",
        names=False,
    ),
    cue(
        "location",
        "fact",
        0.8,
        r"^(?:the|our|my|all|unit|integration|e2e|end-to-end)\s+(?!(?:error|output|result|issue|bug|example|data|"
        r"problem|screenshot|fix|change|following|file|line|one|log)s?\b)(?:[\w.'’-]+\s+){1,5}?(?:is|are|lives?|sits?|"
        r"resides?|can be found|(?:is|are) (?:located|kept|stored|defined|available|documented|described)|go(?:es)?|"
        r"belongs?)\s+(?:\w+ly )?(?:in|"
        r"at|under|"
        r"inside)\s+(?:the\s+)?(?:`[^`\s]+`|https?://\S+|(?:folder|directory|dir)\s+[\w.-]+|[\w.-]+\s+(?:folder|"
        r"directory)\b|"
        r"@?(?:\.{0,2}/)?[\w.@-]+/[\w./@*-]*|\.{1,2}/[\w.@-]+)",
        names=False,
    ),
    cue(
        "location",
        "fact",
        0.8,
        r"^(?:the|our)\s+(?:[\w.'’-]+\s+){1,4}?(?:runs?|listens?|is (?:running|served|listening|exposed))\s+on\s+"
        r"(?:port\s+\d{2,5}|localhost:\d{2,5}|https?://localhost:\d{2,5})",
    ),
    cue(
        "about-project",
        "fact",
        0.8,
        r"^(?:the |our |all |everything (?:in|under) )?(?:(?:`[^`]+`|[\w./*-]*[./_][\w./*-]*)(?: \w+)?|[\w-]+ "
        r"(?:files?|code|folder|directory|module|package|client|types))\s+(?:is|are)\s+(?:auto-?generated|generated|"
        r"vendored|deprecated|legacy|obsolete|read-?only|no longer (?:used|maintained)|not used any ?more|checked in|"
        r"gitignored|a submodule|a symlink)\b",
    ),
    cue(
        "about-project",
        "fact",
        0.75,
        r"(?:^|[,;]\s+)this (?:repo|repository|project|codebase|package|library|app)?\s*is (?:an? |"
        r"still |not an? )?(?:\w+ )?"
        r"(?:monorepo|OSS|open[- ]source|private|public|internal|prototype|library|in dev\w*|pre-?release|fork)\b",
        names=False,
        has=("this ",),
    ),
    cue(
        "about-project",
        "fact",
        0.8,
        r"^(?:we|this (?:project|repo))(?: only|['’]re| are)?\s+(?:support|target|on|still on|stuck on|require|"
        r"need to support|have to support|must support)s?\s+(?:Python|Node|Go|Java|Ruby|PHP|React|Rust|\.NET|Postgres"
        r"\w*|iOS|Android|Windows|macOS|Linux|TypeScript|Django|Rails)\b",
    ),
    cue(
        "how-to",
        "fact",
        0.8,
        r"^(?:to|in order to)\s+(?:run|build|test|deploy|start|releas|lint|format|reset|seed|migrat|regenerat|"
        r"publish|debug|install|updat)\w*\b[^,`]{0,60},?\s+(?:you (?:can |must |should |need to |have to )?|we |just |"
        r"please )*(?:use|run|do|call|type|execute|go through)\s+(?:the\s+)?(?:`[^`]+`|(?:make|npm|pnpm|yarn|bun|just|"
        r"cargo|go|uv|poetry|docker|python3?|bundle|mix|\./\S+|scripts?/\S+)\b)",
    ),
    cue(
        "how-to",
        "fact",
        0.8,
        r"^(?:the )?(?:tests|e2e tests|unit tests|integration tests|app|server|project|docs|migrations|linter)\s+"
        r"(?:are|is|can be|must be|should be|have to be)\s+(?:run|built|started|deployed|generated|applied)\s+(?:with|"
        r"via|through|by|using|from)\s+(?:the\s+)?(?:`[^`]+`|\S*/\S+|(?:make|npm|pnpm|yarn|bun|just|docker)\b)",
    ),
    cue(
        "about-project",
        "fact",
        0.8,
        rf"^this is (?:an?|my|our) (?!(?:{_ANY_KIND})\b)(?:[\w.+#/-]+ ){{1,3}}(?:project|repo(?:sitory)?|"
        rf"app(?:lication)?|"
        r"codebase|theme|plugin|crate|package|library|monorepo|service|workspace|extension|template)\b",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.8,
        r"^(?:(?:`[^`]+`|[\w.*-]*[./][\w.*/-]*)(?:,? and |,\s*|\s+)){1,6}(?:must |should |always )?(?:stays?|remains?|"
        r"be kept|are kept|is kept)\s+(?:\w+ )?(?:gitignored|untracked|ignored|private|local|uncommitted|tracked|"
        r"in git|"
        r"out of git|read-?only)\b",
    ),
    cue(
        "environment",
        "fact",
        0.8,
        rf"^(?:you|I|we|this|it|everything|the \w+)(?:['’]re|['’]m| are| am| is)? (?:\w+ly )?(?:runn?(?:ing|s)|"
        rf"working|developing|"
        rf"deployed|hosted|coding|sitting|living|executed)\s+(?:\w+ )?(?:in|on|inside|under|via|behind|within)\s+"
        rf"(?:an? |the |my |our )?(?:\w+ )?(?:{_PLACES})\b",
        names=False,
    ),
    cue(
        "environment",
        "fact",
        0.8,
        rf"^(?:I|we|you)(?:['’]m|['’]re| am| are) (?:still )?on (?:an? |my )?(?:\w+ )?(?:{_PLACES})\b",
        names=False,
    ),
    cue(
        "environment",
        "fact",
        0.8,
        r"^(?:I|we|you)(?:['’]ve| have)(?: got)? (?:the |an? )?(?:`[^`]+`|[\w./-]+)(?: \w+){0,3} (?:installed|"
        r"available|"
        r"set ?up|configured|cli|utility|on (?:my|the) path|at hand)\b",
    ),
    cue(
        "environment",
        "fact",
        0.75,
        r"^according to (?:the )?.{2,60}?\b(?:docs?|documentation|spec(?:ification)?|manual|readme|"
        r"changelog)\b,?\s+.{16,}",
        names=False,
    ),
    cue(
        "about-self",
        "fact",
        0.75,
        r"^I(?:['’]m| am)(?: also)? (?:quite |very |still |completely |fairly |rather )?(?:new to|unfamiliar with|"
        r"not familiar "
        r"with|inexperienced (?:in|with)|a beginner (?:in|with|at)|learning)\s+(?!(?:this|that|it)\b)\w+",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.8,
        rf"^(?:the |our |all )?(?:\w+ )?(?:{_PARTS})(?: \w+)? (?:only )?(?:requires?|needs?|depends? on|expects?|"
        rf"works? with)\s+"
        rf"(?:an? |the |your )?(?:[\w.`-]+ ){{0,4}}?(?:running|installed|sudo|root|internet|network|vpn|set|in the "
        rf"environment|or (?:newer|later|higher|above)|env(?:ironment)? vars?|{_PLACES})\b",
        names=False,
    ),
    cue(
        "about-project",
        "fact",
        0.8,
        rf"^(?:we (?:deploy|host|release|ship|publish)|(?:it|everything|this (?:project|repo|app|site)|(?:the|"
        rf"our) (?:\w+ )?"
        rf"(?:{_PARTS})) (?:is|are|gets?) (?:always |automatically )?(?:deployed|hosted|released|shipped|published))\s+"
        r"(?:\w+ ){0,3}?(?:to|on|via|with|by|through|from|using|at)\s+(?!(?:it|this|that|me|us)\b)\S+",
        names=False,
    ),
)  # fmt: skip
