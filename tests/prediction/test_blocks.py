import pytest

from stickbreak.prediction.words import document_blocks


@pytest.mark.parametrize("n_documents", [0, 1, 5_000_000])
def test_document_blocks_cover_every_document_once(n_documents):
    blocks = list(document_blocks(n_documents, 1000))
    stops = [0] + [block.stop for block in blocks]
    assert [block.start for block in blocks] == stops[:-1]
    assert stops[-1] == n_documents
