"""Code hosting, packages, builds, and what keeps their secrets."""

from __future__ import annotations

from hardwon.scrub.rules.form import named, token
from hardwon.scrub.shapes import is_real

_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"
_GITLAB = "pat oas dt rt rtr cbt ptt ft imt agent wt soat ffct".split()

_HOSTING = (
    token("hardwon-token", "Hardwon service token", "hardwon_<H>{12}_<U>{43}", edge="U"),
    token("github-token", "GitHub token", "gh[pousr]_<A>{20,}", *(f"gh{letter}_" for letter in "pousr"), edge=""),
    token("github-token", "GitHub fine-grained token", "github_pat_[A-Za-z0-9_]{20,}", edge=""),
    token(
        "gitlab-token",
        "GitLab token",
        rf"gl(?:{'|'.join(_GITLAB)})-<U>{{20,}}(?:\.<U>{{2,}})*+",
        *(f"gl{name}-" for name in _GITLAB),
        edge="",
    ),
    token("gitlab-token", "GitLab runner registration token", "GR1348941<U>{20,}", edge=""),
    token("bitbucket-token", "Bitbucket app password", "ATBB<A>{24,}"),
    token("bitbucket-token", "Bitbucket repository token", "ATCTT3<U>{60,}(?:=<C>{8})?"),
    named("bitbucket-token", "Bitbucket client secret", "bitbucket", "<U>{32,64}"),
    token("atlassian-token", "Atlassian API token", "ATATT3<U>{60,}(?:=<C>{8})?"),
    named("atlassian-token", "Atlassian API token of the older form", "atlassian jira confluence", "<A>{20,24}"),
    named("gitea-token", "Gitea or Forgejo token", "gitea forgejo codeberg", "<H>{40}"),
    token("sourcegraph-token", "Sourcegraph token", "sgp_(?:(?:<J>{16}|local)_)?<J>{40,}"),
    token("sourcegraph-token", "Sourcegraph licence or dotcom token", "(?:slk|sgd)_<H>{40,}", "slk_", "sgd_", edge=""),
)

_PACKAGES = (
    token("npm-token", "npm access token", "npm_<A>{30,}", edge=""),
    token("pypi-token", "PyPI upload token", "pypi-AgE<U>{20,}", edge=""),
    token("rubygems-token", "RubyGems API key", "rubygems_<H>{40,}"),
    token("nuget-key", "NuGet API key", "oy2<L>{43}(?!<A>)"),
    token("crates-token", "Crates registry API token", "cio<A>{32}(?!<A>)"),
    token("clojars-token", "Clojars deploy token", "CLOJARS_<L>{50,}"),
    token("packagist-token", "Packagist token", "packagist_[a-z]{3}_<H>{60,}"),
    token("jfrog-key", "JFrog Artifactory API key", "AKCp<A>{60,}"),
    token("jfrog-key", "JFrog Artifactory reference token", "cmVmd<A>{56,}"),
    named("jfrog-key", "JFrog Artifactory key", "artifactory jfrog", "(?:<A>{64,73}|(?:akc|ap)<A>{17,62})"),
    token("docker-token", "Docker Hub token", "dckr_[po]at_<U>{20,}", "dckr_pat_", "dckr_oat_", edge=""),
    token("rapidapi-key", "RapidAPI key", "msh(?<=<L>{10}msh)<L>{15}p1<L>{6}jsn<L>{12}(?!<A>)", edge="", before=10),
)

_BUILDS = (
    token("sonar-token", "SonarQube token", "sq[upa]_<L>{36,}", "squ_", "sqp_", "sqa_"),
    named("sonar-token", "SonarQube token of the older form", "sonar", "<U>{40}"),
    token(
        "buildkite-token",
        "Buildkite token",
        "bk(?:ua|ct|aj|pt|at|st)_<A>{30,}",
        *(f"bk{of}_" for of in "ua ct aj pt at st".split()),
    ),
    token("circleci-token", "CircleCI token", "CCIP(?:AT|RJ)_<A>{16,}_<H>{36,}", "CCIPAT_", "CCIPRJ_", edge=""),
    named("circleci-token", "CircleCI token of the older form", "circleci circle_token circle-token", "<H>{40}"),
    named("travis-token", "Travis CI token", "travis", "<U>{20,24}"),
    named(
        "codeclimate-token",
        "Code Climate token",
        "codeclimate cc_test_reporter",
        "(?:<H>{64}|<H>{40})",
        accepts=is_real,
    ),
    named("codecov-token", "Codecov token", "codecov", f"(?:{_UUID}|<A>{{32}})"),
    named("drone-token", "Drone CI token", "droneci drone_token drone_", "<A>{32}"),
    named("coveralls-token", "Coveralls repository token", "coveralls", "<A>{32,36}"),
    named("appveyor-token", "AppVeyor API token", "appveyor", "<A>{20,24}"),
    token("snyk-token", "Snyk token", r"snyk_[us]at\.<U>{8,}\.<U>{16,}(?:\.<U>{8,})?", "snyk_uat.", "snyk_sat."),
    named("snyk-token", "Snyk token of the older form", "snyk", _UUID),
    token("octopus-key", "Octopus Deploy API key", "API-<C>{26,}(?!<A>)", edge="U"),
    token("harness-key", "Harness API key", r"[ps]at\.<U>{22}\.<A>{24}\.<A>{20}", "pat.", "sat."),
    token("infracost-key", "Infracost API key", "ico-<A>{32}(?!<A>)", edge="U"),
    token("launchdarkly-key", "LaunchDarkly key", f"(?:api|sdk|mob)-{_UUID}", "api-", "sdk-", "mob-", edge=""),
    token("postman-key", "Postman API key", "PMAK-<H>{24}-<H>{30,}", edge=""),
    token("readme-key", "ReadMe API key", "rdme_<L>{60,}"),
    token("intra42-secret", "Intra 42 client secret", "s-s4t2(?:ud|af)-<H>{60,}"),
    token("prefect-key", "Prefect API key", "pn[ub]_<A>{34,}", "pnu_", "pnb_"),
    token("dbt-token", "dbt Cloud token", "dbt[cu]_<U>{30,}", "dbtc_", "dbtu_"),
    token("apify-token", "Apify API token", "apify_api_<A>{30,}"),
)

_KEEPERS = (
    token("vault-token", "HashiCorp Vault token", r"hv[sbr]\.<U>{24,}", "hvs.", "hvb.", "hvr."),
    named("vault-token", "HashiCorp Vault token of the older form", "vault", r"s\.<A>{24}"),
    token(
        "terraform-token",
        "Terraform Cloud token",
        r"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)<E>{50,}",
        ".atlasv1.",
        edge="",
        before=14,
    ),
    token("pulumi-token", "Pulumi access token", "pul-<H>{40,}", edge="U"),
    token(
        "doppler-token",
        "Doppler token",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,16}\.)?<A>{40,}",
        "dp.pt.",
        "dp.st.",
        "dp.ct.",
        "dp.sa.",
        "dp.scim.",
        "dp.audit.",
    ),
    token("age-key", "age secret key", "AGE-SECRET-KEY-1<C>{50,}", edge=""),
    token("onepassword-token", "1Password service account token", "ops_eyJ[A-Za-z0-9+/]{200,}={0,3}"),
    token(
        "onepassword-key",
        "1Password secret key",
        "A3-<C>{6}-(?:<C>{11}|<C>{6}-<C>{5})-<C>{5}-<C>{5}-<C>{5}(?!<A>)",
        "A3-",
        edge="U",
    ),
    token("infisical-token", "Infisical service token", r"st\.<H>{24}\.<H>{32}\.<H>{32}"),
)

CODE = (*_HOSTING, *_PACKAGES, *_BUILDS, *_KEEPERS)
