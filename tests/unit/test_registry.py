from importlib.metadata import EntryPoint

import pytest

from seamline import registry
from seamline.errors import MissingExtraError, SettingsError


def test_every_built_in_is_registered_through_an_entry_point() -> None:
    found = {(info.kind, info.name) for info in registry.providers() if info.distribution == "seamline"}
    assert found == set(registry.BUILT_INS)


def test_an_unknown_name_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(SettingsError) as caught:
        registry.factory("stores", "embeded")
    assert caught.value.hint == "did you mean embedded?"


def test_a_missing_package_names_the_install(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.BuiltIn("x", ("no_such_module_anywhere",), "local")
    monkeypatch.setitem(registry.BUILT_INS, ("embedders", "local"), known)
    with pytest.raises(MissingExtraError) as caught:
        registry.factory("embedders", "local")
    assert "no_such_module_anywhere" in caught.value.message
    assert caught.value.hint == 'pip install "seamline[local]"'
    row = next(info for info in registry.providers() if (info.kind, info.name) == ("embedders", "local"))
    assert row.missing == ("no_such_module_anywhere",)


@pytest.mark.parametrize(("kind", "name"), sorted(registry.BUILT_INS))
def test_every_built_in_loads(kind: registry.Kind, name: str) -> None:
    assert callable(registry.factory(kind, name))


def test_stand_ins_are_marked() -> None:
    assert registry.is_stand_in("embedders", "hash")
    assert registry.is_stand_in("rerankers", "lexical")
    assert registry.is_stand_in("generators", "echo")
    assert not registry.is_stand_in("embedders", "local")


def test_a_name_that_two_packages_claim_is_an_error_naming_both(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("twice", "one.module:create", "seamline.stores"), EntryPoint("twice", "two:create", "x")]
    monkeypatch.setattr(registry, "_points", lambda kind: points if kind == "stores" else [])
    with pytest.raises(SettingsError, match=r"one\.module:create.*two:create"):
        registry.factory("stores", "twice")


@pytest.mark.parametrize("value", ["no_such_module_anywhere:create", "json:no_such_name"])
def test_a_provider_that_cannot_be_loaded_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setattr(registry, "_points", lambda _kind: [EntryPoint("broken", value, "seamline.stores")])
    with pytest.raises(SettingsError, match="'broken' of unknown cannot be loaded"):
        registry.factory("stores", "broken")
