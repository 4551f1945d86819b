from stickbreak.corpus.examples.standard_library import standard_library_docstrings

LONG = " ".join(f"word{i}" for i in range(20))


def collection(tmp_path, modules):
    for name, source in modules.items():
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    return dict(zip(*standard_library_docstrings(tmp_path), strict=True))


def test_documents_are_named_as_python_names_them(tmp_path):
    source = (
        f'"""M {LONG}"""\nclass A:\n  """A {LONG}"""\n  def f(self):\n    """F {LONG}"""\n'
        f'async def g():\n  """G {LONG}"""\n'
    )
    found = collection(tmp_path, {"pack/mod": source, "pack/__init__": f'"""P {LONG}"""'})
    assert {name: text[0] for name, text in found.items()} == {
        "pack": "P",
        "pack.mod": "M",
        "pack.mod.A": "A",
        "pack.mod.A.f": "F",
        "pack.mod.g": "G",
    }


def test_short_strings_go_to_what_is_around_them(tmp_path):
    source = (
        f'"""M {LONG}"""\nclass A:\n  """Short A."""\n  def f(self):\n    """Short f."""\n'
        f'  def g(self):\n    """G {LONG}"""\n'
    )
    found = collection(tmp_path, {"mod": source})
    assert found == {"mod": f"M {LONG}\n\nShort A.\n\nShort f.", "mod.A.g": f"G {LONG}"}


def test_copies_tests_and_other_peoples_packages_are_left_out(tmp_path):
    doc = f'"""{LONG}"""'
    others = ("site-packages/x", "test/x", "a/tests/x", "test_x")
    found = collection(tmp_path, {"a": doc, "b": doc, **{name: f'"""{name} {LONG}"""' for name in others}})
    assert found.keys() == {"a"}


def test_the_installed_library_gives_thousands_of_documents():
    names, texts = standard_library_docstrings()
    assert len(names) == len(texts) == len(set(texts)) > 1500
    assert min(len(text.split()) for text in texts) >= 20
    assert not any(name.startswith("test.") or ".tests." in name or name.startswith("pip.") for name in names)
