"""Secrets never reach a durable record; harmless text stays."""

from __future__ import annotations

import json

import pytest

from lackpy.traces.mask import MASK, mask_data, mask_text

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nzZ9xk\n-----END RSA PRIVATE KEY-----"

# text with a secret, and the secret
SECRETS = [
    ("KEY=tvly-abc123def456", "tvly-abc123def456"),
    ("KEY=tvly-abc", "tvly-abc"),
    ("export OPENAI_API_KEY=sk-proj-9aZ0bY1cX2dW3eV4", "sk-proj-9aZ0bY1cX2dW3eV4"),
    ("password: hunter2", "hunter2"),
    ("password: correcthorse\n", "correcthorse"),
    ('password = "hunter2"', "hunter2"),
    ('{"db": {"password": "correct horse battery 9"}}', "correct horse battery 9"),
    ('"{\\"password\\": \\"hunter2\\"}"', "hunter2"),
    ("DB_PASSWORD=swordfish\n", "swordfish"),
    ("MYSQL_PWD='s3cr3t!'", "s3cr3t!"),
    ("postgres://user:p4ss@db.example.com/app", "p4ss"),
    ("redis://:secretpass@localhost:6379/0", "secretpass"),
    ("amqp://guest:guest@host", "guest@host"),
    ("host=db user=app password=correcthorse dbname=x", "correcthorse"),
    ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
    ("authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
    ('headers = {"Authorization": "Bearer abc123def456ghi"}', "abc123def456ghi"),
    ("Authorization: token 0123456789abcdef", "0123456789abcdef"),
    ("curl -H 'Authorization: ApiKey zyx987wvu654'", "zyx987wvu654"),
    ("Set-Cookie: session=8d9f7a6b5c4e; Path=/", "8d9f7a6b5c4e"),
    (PEM, "MIIEowIBAAKCAQEA7bq"),
    (PEM[:60], "MIIEowIBAAKCAQEA7bq"),
    (json.dumps(PEM), "MIIEowIBAAKCAQEA7bq"),
    (
        "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    ),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    (
        "[default]\naws_access_key_id=AKIAIOSFODNN7EXAMPLE\naws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY",
        "wJalrXUtnFEMI",
    ),
    (f"token {JWT} expired", JWT),
    (f'raise AuthError("bad jwt {JWT}")', JWT),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("use xoxb-123456789012-abcdefABCDEF please", "xoxb-123456789012-abcdefABCDEF"),
    ("glpat-abcDEF123456ghiJKL", "glpat-abcDEF123456ghiJKL"),
    ("AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    ("hf_abcdefghijklmnopQRSTuv", "hf_abcdefghijklmnopQRSTuv"),
    ("stripe sk_live_4eC39HqLyjWDarjtT1zdp7dc", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("https://hooks.slack.com/services/T000/B000/XXXXabcd1234", "T000/B000/XXXXabcd1234"),
    ("client_secret: 'a8Kf-93jd'", "a8Kf-93jd"),
    ("token=8f3kq02m4x", "8f3kq02m4x"),
    ('"token": "8f3kq02m4x"', "8f3kq02m4x"),
    ("https://x.io/?api_key=qwerty&user=1", "qwerty"),
    ("mysql --password hunter22", "hunter22"),
    ("AccountKey=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4==;EndpointSuffix=core", "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"),
    ("find where hunter2 is used, password=hunter2", "password=hunter2"),
]

HARMLESS = [
    "find callers of validate_token",
    'find_callers(name="validate_token")',
    "token = get_token(request)",
    "def validate_token(token: str) -> bool:",
    "def login(user, password: str, *, token: Token | None = None):",
    "return jwt.decode(token)",
    "for token in tokens: print(token)",
    "self.token = token",
    "login(password=password, token=self.token)",
    "password = os.environ['DB_PASSWORD']",
    "password = getpass.getpass()",
    "api_key = settings.api_key",
    "API_KEY=${API_KEY}",
    'api_key="{api_key}"',
    "password: <your password>",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "commit 356a192b7913b04c54574d18c28d46e6395428ab fixes it",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "session 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ended",
    "sorted(rows, key=lambda r: r['line'])",
    "sort_by(rows, key=lambda r: r['name'])",
    "max(items, key=len)",
    'key="name"',
    "https://example.com/path?q=1",
    "http://localhost:8080/a@b",
    "ssh://git@github.com/x/y.git",
    "sk-learn and scikit-learn",
    "the password is required",
    "passwords are hashed with bcrypt",
    "the basic idea of bearer tokens",
    "tests/test_token_refresh.py::test_password_reset",
    "secret santa list",
    "primary_key=True",
    "key: value",
    "TOKEN_LIMIT=4096",
    "max_tokens: 1024",
    "tokens_in=1500 tokens_out=300",
    'type: "password"',
    "from app.auth import validate_token",
    "class TokenBucket:\n    tokens: int = 0\n",
    "password_hash = hash_password(password)",
    'ENV_API_KEY = "SERVICE_API_KEY"',
    'GRANT_TYPE_REFRESH_TOKEN = "refresh_token"',
    "inject `Authorization: Bearer` on each request",
    "api_key: return None so the base client sends it",
    "uses HTTP Basic authentication",
    "as new large. This way there is basic combinatorics",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secret_is_masked(text: str, secret: str) -> None:
    masked = mask_text(text)
    assert secret not in masked
    assert MASK in masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_masking_can_keep_every_offset(text: str, secret: str) -> None:
    masked = mask_text(text, keep_length=True)
    assert len(masked) == len(text)
    assert secret not in masked
    assert [a for a, b in zip(text, masked, strict=True) if b not in (a, "*")] == []


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    assert mask_text(text) == text


def test_names_of_keys_mask_their_values() -> None:
    """A text under a secret's name goes whole, whatever it looks like; numbers and flags stay."""
    given = {
        "password": "correct horse",
        "apiKey": "abc",
        "token": "validate_token",
        "auth": {"refresh_token": "r", "note": "password: hunter2"},
        "key": "name",
        "tokens": 5,
        "has_password": True,
        "list": ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", ("x",)],
    }
    assert mask_data(given) == {
        "password": MASK,
        "apiKey": MASK,
        "token": "validate_token",
        "auth": {"refresh_token": MASK, "note": f"password: {MASK}"},
        "key": "name",
        "tokens": 5,
        "has_password": True,
        "list": [MASK, ["x"]],
    }


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, "password" * 40_000, "eyJ" + "a" * 300_000, "-----BEGIN PRIVATE KEY-----" * 5_000, "x=" * 150_000,
     "a://" * 80_000, "token: " * 40_000, "Authorization:" * 20_000, "AKIA" * 80_000, '"key"' * 60_000, "_-" * 150_000],
)  # fmt: skip
def test_long_hostile_text_is_masked_in_one_pass(text: str) -> None:
    """Work grows with length, not with its square: none of these would end within the suite's patience otherwise."""
    mask_text(text)
