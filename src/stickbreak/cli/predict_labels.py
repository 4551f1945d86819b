"""`stickbreak predict-labels`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.asking import asks_documents
from stickbreak.cli.documents import Documents
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["predict_labels"]


@asks_documents()
def predict_labels(
    fitted: Any,
    documents: Documents,
    all_labels: Annotated[
        bool, typer.Option("--all-labels", help="Give a row to every label of a document, not only the likely ones.")
    ] = False,
) -> "pd.DataFrame":
    """Print the labels of documents with their probabilities.

    The model was fitted with --labels. A label is printed where its probability is
    one half or more, and the most probable one in any case.
    """
    import pandas as pd

    if not hasattr(fitted, "label_probabilities"):
        raise InputError(
            f"a {type(fitted).__name__} has no labels to predict; fit a TopicModel or a "
            "GibbsHDP(representation='partially-collapsed') with labels (--labels COLUMN)."
        )
    table = fitted.label_probabilities(documents.corpus)
    likely = [list(table.columns)] * len(table) if all_labels else fitted.predict_labels(documents.corpus)
    rows = [
        (document, label, table[label].iloc[d])
        for d, (document, labels) in enumerate(zip(table.index, likely, strict=True))
        for label in labels
    ]
    return pd.DataFrame(rows, columns=["document", "label", "probability"])
