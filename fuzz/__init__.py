"""Trials by chance that look for what breaks stickbreak: files, saved models, kills, write faults, odd numbers.

`python -m fuzz --help` names the trials; `make fuzz` runs them all for some hours. Each finds its failures again from
its seed. A small share of every trial runs in `make test` (tests/fuzz/).
"""
