"""What both online HDPs refuse before they start."""

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from stickbreak_baselines import OnlineHDP, SplitMergeOnlineHDP


@pytest.mark.parametrize("family", [OnlineHDP, SplitMergeOnlineHDP])
@pytest.mark.parametrize("eta", [float("nan"), -1.0])
def test_an_eta_that_is_no_concentration_is_refused(family, eta):
    with pytest.raises(InvalidParameterError, match="'eta' parameter"):
        family(eta=eta).fit(np.ones((3, 4), dtype=int))
