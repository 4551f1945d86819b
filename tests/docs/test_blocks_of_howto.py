"""Every block of code of the pages on how to do something runs."""

import pytest

from .blocks import pages_with_blocks, run_page


@pytest.mark.usefixtures("small_sample", "few_passes", "one_cluster")
@pytest.mark.parametrize("name", pages_with_blocks("howto"))
def test_the_blocks_of_a_page_run_in_order(name):
    run_page(name)
