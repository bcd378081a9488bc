"""Names of models, and where their keys come from."""

from __future__ import annotations

import pytest

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.providers.names import access, parse_model, without_key
from notebook_bcc.protocol.secret_variables import MODEL_KEYS


@pytest.mark.parametrize(
    ("text", "vendor", "name", "address"),
    [
        ("openai:gpt-4o", "openai", "gpt-4o", "https://api.openai.com/v1"),
        ("anthropic:claude-x", "anthropic", "claude-x", "https://api.anthropic.com"),
        ("http://127.0.0.1:11434/v1#llama3.1:8b", "url", "llama3.1:8b", "http://127.0.0.1:11434/v1"),
        ("https://gate.example/openai/#a/b", "url", "a/b", "https://gate.example/openai"),
    ],
)
def test_a_name_says_who_is_asked_and_where(text: str, vendor: str, name: str, address: str) -> None:
    model = parse_model(text)
    assert (model.vendor, model.name, model.address) == (vendor, name, address)
    assert parse_model(str(model)) == model


@pytest.mark.parametrize(
    "text",
    ["", "gpt-4o", "openai:", "openai:a b", "openai", "http://#x", "http://host/v1", "http://host/v1#", "ftp://h#x"],
)
def test_what_is_no_name_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(SettingsInvalid, match=r"openai:NAME|anthropic:NAME"):
        parse_model(text)


@pytest.mark.parametrize("text", ["http://user:secret@host/v1#m", "http://host/v1?key=secret#m", "http://host:x/#m"])
def test_an_address_with_credentials_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        parse_model(text)
    assert "secret" not in str(caught.value)


def test_local_is_what_stays_on_this_machine() -> None:
    assert parse_model("http://localhost:1/v1#m").is_local
    assert parse_model("http://[::1]:1/v1#m").is_local
    assert not parse_model("http://localhost.example/v1#m").is_local
    assert not parse_model("openai:m").is_local


def test_a_key_comes_from_the_variable_of_its_vendor_only() -> None:
    environment = {variable: f"key-of-{vendor}" for vendor, variable in MODEL_KEYS.items()}
    for text in ("openai:m", "anthropic:m", "http://localhost/v1#m"):
        model = parse_model(text)
        assert access(model, environment).key == f"key-of-{model.vendor}"


def test_a_missing_key_names_the_variable_to_set() -> None:
    with pytest.raises(SettingsInvalid, match="OPENAI_API_KEY"):
        access(parse_model("openai:m"), {"NBCC_LLM_KEY": "x"})
    assert access(parse_model("http://localhost/v1#m"), {"OPENAI_API_KEY": "sk"}).key == ""


def test_a_key_is_not_shown() -> None:
    found = access(parse_model("openai:m"), {"OPENAI_API_KEY": " sk-secret\n"})
    assert found.key == "sk-secret"
    assert "sk-secret" not in repr(found)
    assert "sk-secret" not in without_key("Incorrect key sk-secret given", found.key)
    with pytest.raises(SettingsInvalid) as caught:
        access(parse_model("openai:m"), {"OPENAI_API_KEY": "sk-sécret x"})
    assert "cret" not in str(caught.value).replace("OPENAI_API_KEY", "")
