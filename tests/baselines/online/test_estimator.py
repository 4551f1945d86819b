"""What both online HDPs refuse before they start."""

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from stickbreak import OnlineHDP, SplitMergeOnlineHDP
from stickbreak.exceptions import InputError


@pytest.mark.parametrize("family", [OnlineHDP, SplitMergeOnlineHDP])
@pytest.mark.parametrize("eta", [float("nan"), -1.0])
def test_an_eta_that_is_no_concentration_is_refused(family, eta):
    with pytest.raises(InvalidParameterError, match="'eta' parameter"):
        family(eta=eta).fit(np.ones((3, 4), dtype=int))


@pytest.mark.parametrize("family", [OnlineHDP, SplitMergeOnlineHDP])
def test_an_eta_by_word_is_refused_in_a_sentence(family):
    with pytest.raises(InputError, match=r"eta is an array of shape \(4,\), but .* takes one number for all words"):
        family(eta=np.full(4, 0.1)).fit(np.ones((3, 4), dtype=int))
