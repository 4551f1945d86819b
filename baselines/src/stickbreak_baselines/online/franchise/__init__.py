"""`OnlineHDP` (Wang, Paisley and Blei 2011): tables in every document, each with one topic."""
