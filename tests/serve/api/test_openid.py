"""OpenID Connect against a small issuer of our own: signatures, audiences, ages and groups."""

import json
import time
from types import SimpleNamespace

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from discreet.core.errors import BadParameter
from discreet.serve.api.openid import NotOpenId, OpenId, OpenIdTokens, is_openid
from tests.serve.api.served import request, served

ISSUER, AUDIENCE = "https://login.example.org", "discreet"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    """Keys of an issuer, one of each kind, and what they sign."""
    folder = tmp_path_factory.mktemp("issuer")
    keys = {"r": rsa.generate_private_key(65537, 2048), "e": ec.generate_private_key(ec.SECP256R1())}
    public = [
        {**json.loads(RSAAlgorithm.to_jwk(keys["r"].public_key())), "kid": "r", "alg": "RS256", "use": "sig"},
        {**json.loads(ECAlgorithm.to_jwk(keys["e"].public_key())), "kid": "e", "alg": "ES256"},
    ]
    (folder / "keys.json").write_text(json.dumps({"keys": public}))

    def signed(kid="r", key=None, algorithm=None, **claims):
        usual = {"iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 600, "groups": ["researchers"], "sub": "ann"}
        said = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return jwt.encode(said, key or keys[kid], algorithm or {"r": "RS256", "e": "ES256"}[kid], headers={"kid": kid})

    return SimpleNamespace(folder=folder, keys=keys, signed=signed)


def policy(issuer, grants):
    text = f'issuer = "{ISSUER}"\naudience = "{AUDIENCE}"\nkeys = "keys.json"\n[groups]\n'
    place = issuer.folder / "openid.toml"
    place.write_text(text + "".join(f'{group} = "{grant}"\n' for group, grant in grants.items()))
    return place


@pytest.mark.parametrize("kid", ["r", "e"])
def test_a_token_that_the_issuer_signed_has_the_grant_of_its_group(issuer, kid):
    tokens = OpenIdTokens(OpenId.read(policy(issuer, {"students": "g1", "researchers": "g2"})))
    assert is_openid(issuer.signed(kid))
    assert tokens.grant_of(issuer.signed(kid)) == "g2"
    assert tokens.grant_of(issuer.signed(kid, groups=["researchers", "students"])) == "g1"  # as the file lists them


def test_any_other_token_is_refused(issuer):
    tokens = OpenIdTokens(OpenId.read(policy(issuer, {"researchers": "g"})))
    stranger = rsa.generate_private_key(65537, 2048)
    public = issuer.keys["r"].public_key()
    pem = public.public_bytes(*_pem()).decode()
    wrong = [
        issuer.signed(exp=time.time() - 60),
        issuer.signed(exp=None),
        issuer.signed(iss="https://elsewhere.example.org"),
        issuer.signed(aud="another"),
        issuer.signed(aud=None),
        issuer.signed(groups=[]),
        issuer.signed(groups=None),
        issuer.signed(groups={"researchers": 1}),
        issuer.signed(key=stranger),
        issuer.signed(kid="r", key=issuer.keys["e"], algorithm="ES256"),
        issuer.signed()[:-4] + "AAAA",
        _unsigned(),
        _hmac(pem),
        "a.b.c",
        "..",
    ]
    for token in wrong:
        with pytest.raises(NotOpenId):
            tokens.grant_of(token)


def _pem():
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return Encoding.PEM, PublicFormat.SubjectPublicKeyInfo


def _claims():
    return {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 600, "groups": ["researchers"]}


def _unsigned():
    return jwt.encode(_claims(), None, "none", headers={"kid": "r"})


def _hmac(pem):
    """A token signed with the public key as a shared secret, which everybody has."""
    import base64
    import hashlib
    import hmac

    def coded(part):
        return base64.urlsafe_b64encode(part).rstrip(b"=")

    head = coded(json.dumps({"alg": "HS256", "kid": "r", "typ": "JWT"}).encode())
    body = coded(json.dumps(_claims()).encode())
    return b".".join([head, body, coded(hmac.new(pem.encode(), head + b"." + body, hashlib.sha256).digest())]).decode()


def test_a_server_takes_tokens_of_the_issuer_beside_its_own(issuer, tmp_path):
    place = policy(issuer, {"researchers": "000000000000"})
    with served(tmp_path, openid=str(place)) as made:
        grant = made.tokens["analyst"].partition("_")[0]
        policy(issuer, {"researchers": grant, "gone": "000000000000"})
        made.app.state.desks._openid = OpenIdTokens(OpenId.read(place))
        token = issuer.signed()
        assert made.ask("POST", "/v1/run", token, json=request()).status_code == 200
        assert made.ask("GET", "/v1/session", token).json()["analyst"] == "alice"
        assert made.ask("GET", "/v1/tables").status_code == 200
        assert made.ask("GET", "/v1/tables", issuer.signed(groups=["gone"])).status_code == 401
        assert made.ask("GET", "/v1/tables", issuer.signed(exp=time.time() - 60)).status_code == 401
        made.curator.revoke("alice")
        assert made.ask("GET", "/v1/tables", token).status_code == 401


def test_a_token_that_expires_opens_nothing_more_although_its_desk_is_kept(issuer, tmp_path, monkeypatch):
    place = policy(issuer, {"researchers": "000000000000"})
    with served(tmp_path, openid=str(place)) as made:
        policy(issuer, {"researchers": made.tokens["analyst"].partition("_")[0]})
        desks = made.app.state.desks
        desks._openid = OpenIdTokens(OpenId.read(place))
        token = issuer.signed()
        assert desks.caller(token) is desks.caller(token)

        def expired(_, token):
            raise NotOpenId("this token", why="it has expired", fix="sign in again")

        monkeypatch.setattr(OpenIdTokens, "grant_of", expired)
        assert made.ask("GET", "/v1/tables", token).status_code == 401


@pytest.mark.parametrize(
    "text",
    ['issuer = "http://x"\naudience = "a"\nkeys = "keys.json"\n[groups]\na = "b"\n',
     'issuer = "https://x"\naudience = "a"\nkeys = "nothing.json"\n[groups]\na = "b"\n',
     'issuer = "https://x"\naudience = "a"\nkeys = "openid.toml"\n[groups]\na = "b"\n',
     'issuer = "https://x"\naudience = "a"\nkeys = "keys.json"\n[groups]\n',
     'issuer = "https://x"\nkeys = "keys.json"\n[groups]\na = "b"\n'],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_when_the_server_starts(issuer, text):
    place = issuer.folder / "openid.toml"
    place.write_text(text)
    with pytest.raises((BadParameter, ValueError, Exception)) as refused:
        OpenIdTokens(OpenId.read(place))
    assert hasattr(refused.value, "fix")
