"""`SplitMergeOnlineHDP` (Bryant and Sudderth 2012): topics of tokens that split and merge in minibatches."""
