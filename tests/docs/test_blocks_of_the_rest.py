"""Every block of code of the README, and of the pages that are not on how to do something, runs."""

import pytest

from .blocks import blocks_of, pages_with_blocks, run, run_page


@pytest.mark.usefixtures("small_sample", "few_passes")
@pytest.mark.parametrize("name", pages_with_blocks("rest"))
def test_the_blocks_of_a_page_run_in_order(name):
    run_page(name)


@pytest.mark.usefixtures("small_sample")
def test_the_first_fit_prints_topics_and_writes_a_report(tmp_path):
    write, fit = [block for language, block in blocks_of("start/first-fit.md") if language == "sh"][:2]
    run("sh", write, {})
    printed = run("sh", fit, {})
    assert printed.startswith("topic ")
    for label in ("Found  ", "Wrote  ", "Next   "):
        assert label in printed
    assert (tmp_path / "sample-topics" / "report.html").is_file()
