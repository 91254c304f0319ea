from pathlib import Path

import pytest

from seamline import settings
from seamline.errors import SettingsError


def test_defaults_say_that_they_are_defaults() -> None:
    loaded = settings.load(environ={}, config=None)
    assert loaded.values.candidate_k == 100
    assert set(loaded.sources.values()) == {"default"}


def test_each_source_beats_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("candidate_k = 10\nrrf_k = 20\nfusion_alpha = 0.1\n", encoding="utf-8")
    loaded = settings.load(
        {"fusion_alpha": 0.3}, config=file, environ={"SEAMLINE_RRF_K": "30", "SEAMLINE_FUSION_ALPHA": "0.2"}
    )
    assert (loaded.values.candidate_k, loaded.values.rrf_k, loaded.values.fusion_alpha) == (10, 30, 0.3)
    assert loaded.sources["candidate_k"] == str(file)
    assert loaded.sources["rrf_k"] == "SEAMLINE_RRF_K"
    assert loaded.sources["fusion_alpha"] == "flag"


@pytest.mark.parametrize(
    ("environ", "hint"),
    [
        ({"SEAMLINE_RETREIVE_K": "8"}, "SEAMLINE_CANDIDATE_K"),
        ({"SEAMLINE_XQZWV": "8"}, "settings"),
        ({"SEAMLINE_CANDIDATEK": "8"}, "SEAMLINE_CANDIDATE_K"),
        ({"SEAMLINE_FUSION_ALHPA": "0.5"}, "SEAMLINE_FUSION_ALPHA"),
    ],
)
def test_a_misspelt_name_is_an_error_with_a_suggestion(environ: dict[str, str], hint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings.load(environ=environ)
    assert next(iter(environ)) in caught.value.message
    assert hint in str(caught.value.hint)


def test_reserved_variables_are_not_settings() -> None:
    environ = {"SEAMLINE_HOME": "x", "SEAMLINE_DATA": "x", "SEAMLINE_DOCS": "x", "SEAMLINE_TEST_ANYTHING": "x"}
    assert settings.load(environ=environ).values == settings.Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("candidate_k", "0"),
        ("candidate_k", "many"),
        ("fusion_alpha", "1.5"),
        ("chunk_chars", "49"),
        ("chunk_chars", "10001"),
        ("chunk_overlap_chars", "900"),
        ("mode", "magic"),
    ],
)
def test_a_value_outside_its_bounds_names_the_setting(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings.load(environ={f"SEAMLINE_{name.upper()}": value})
    assert name in caught.value.message


def test_a_missing_settings_file_is_an_error_only_when_it_was_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such settings file"):
        settings.load(environ={"SEAMLINE_CONFIG": str(tmp_path / "absent.toml")})


def test_child_chars_is_another_name_of_chunk_chars() -> None:
    assert settings.load(environ={"SEAMLINE_CHILD_CHARS": "700"}).values.chunk_chars == 700


def test_rule_31_secrets_are_references_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("planted-secret-1\n", encoding="utf-8")
    by_file = settings.load(environ={"SEAMLINE_GENERATION_API_KEY": f"file:{file}"}).values
    by_env = settings.load(environ={"SEAMLINE_GENERATION_API_KEY": "env:OTHER", "OTHER": "planted-secret-2"}).values
    assert by_file.generation_api_key is not None
    assert by_file.generation_api_key.get_secret_value() == "planted-secret-1"
    assert by_env.generation_api_key is not None
    assert by_env.generation_api_key.get_secret_value() == "planted-secret-2"
    assert "planted-secret" not in f"{by_file!r} {by_env!r} {by_file.model_dump()} {by_file.mapping()}"


def test_rule_31_a_bad_value_is_not_repeated_in_the_error() -> None:
    with pytest.raises(SettingsError) as caught:
        settings.load(environ={"SEAMLINE_GENERATION_TIMEOUT_S": "planted-secret-3"})
    assert "planted-secret-3" not in f"{caught.value!r} {caught.value}"


def test_a_secret_reference_to_nothing_is_an_error() -> None:
    with pytest.raises(SettingsError, match="env:ABSENT"):
        settings.load(environ={"SEAMLINE_GENERATION_API_KEY": "env:ABSENT"})


def test_overriding_keeps_what_was_set_before() -> None:
    loaded = settings.load(environ={"SEAMLINE_RRF_K": "30"}).override({"candidate_k": 7})
    assert (loaded.values.rrf_k, loaded.values.candidate_k, loaded.sources["candidate_k"]) == (30, 7, "flag")
    with pytest.raises(SettingsError, match="unknown setting"):
        loaded.override({"candidat_k": 7})


def test_secret_references_work_in_flags_and_keywords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", "planted-secret-3")
    values = settings.load({"generation_api_key": "env:PLANTED_KEY"}, environ={}).values
    assert values.generation_api_key is not None
    assert values.generation_api_key.get_secret_value() == "planted-secret-3"
    file = tmp_path / "key"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="not UTF-8"):
        settings.load({"generation_api_key": f"file:{file}"}, environ={})


def test_an_empty_variable_is_not_set_and_an_empty_flag_is_the_default(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("candidate_k = 10\nmin_cosine = 0.5\n", encoding="utf-8")
    loaded = settings.load({"min_cosine": ""}, config=file, environ={"SEAMLINE_CANDIDATE_K": ""})
    assert (loaded.values.candidate_k, loaded.sources["candidate_k"]) == (10, str(file))
    assert (loaded.values.min_cosine, loaded.sources["min_cosine"]) == (None, "flag")


def test_a_settings_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        settings.load(config=tmp_path, environ={})


def test_all_problems_are_told_together() -> None:
    environ = {"SEAMLINE_RRF_K": "-1", "SEAMLINE_MODE": "magic", "SEAMLINE_NONSENSE": "1", "SEAMLINE_CANDIDATE_K": "7"}
    problems: list[SettingsError] = []
    loaded = settings.load(environ=environ, config=None, problems=problems)
    assert loaded.values.candidate_k == 7
    assert (loaded.values.rrf_k, loaded.sources["rrf_k"]) == (60.0, "default")
    assert {name for name in environ if any(name in p.message for p in problems)} == environ.keys() - {
        "SEAMLINE_CANDIDATE_K"
    }


def test_what_a_setting_accepts_is_told() -> None:
    assert settings.bounds("fusion_alpha") == "≥ 0, ≤ 1"
    assert settings.bounds("mode") == "economy, dense, keyword, hybrid"
    assert settings.bounds("condense") == "boolean"
    assert settings.canonical("SEAMLINE_CHILD_CHARS") == "chunk_chars"
