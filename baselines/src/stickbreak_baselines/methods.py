"""What `stickbreak fit --method` offers of this package; `pyproject.toml` names each as an entry point."""

from stickbreak.methods import Method

__all__ = [
    "HIERARCHICAL_PACHINKO",
    "LDA",
    "METHODS",
    "NESTED_CRP",
    "NESTED_HDP",
    "ONLINE_HDP",
    "PACHINKO",
    "SPLIT_MERGE_ONLINE",
]

LDA = Method(
    "stickbreak_baselines.lda",
    "LDA",
    "takes the number of topics; variational inference.",
    "baseline",
    given_number=True,
)
PACHINKO = Method(
    "stickbreak_baselines.pachinko",
    "Pachinko",
    "finds topics in groups that share them; two levels.",
    "baseline",
    given_number=True,
    quick={"n_laps": 60},
)
HIERARCHICAL_PACHINKO = Method(
    "stickbreak_baselines.pachinko",
    "HierarchicalPachinko",
    "finds topics from general to special; three levels.",
    "baseline",
    given_number=True,
    quick={"n_laps": 60},
)
NESTED_CRP = Method(
    "stickbreak_baselines.nested_crp",
    "NestedCRP",
    "finds a tree of topics from general to special; it grows as documents ask.",
    "baseline",
)
NESTED_HDP = Method(
    "stickbreak_baselines.nested_hdp",
    "NestedHDP",
    "finds a tree of topics, of which a document may have several branches.",
    "baseline",
)
ONLINE_HDP = Method("stickbreak_baselines.online", "OnlineHDP", "earlier online methods, to compare with.", "baseline")
SPLIT_MERGE_ONLINE = Method(
    "stickbreak_baselines.online", "SplitMergeOnlineHDP", "earlier online methods, to compare with.", "baseline"
)
METHODS = (LDA, PACHINKO, HIERARCHICAL_PACHINKO, NESTED_CRP, NESTED_HDP, ONLINE_HDP, SPLIT_MERGE_ONLINE)
