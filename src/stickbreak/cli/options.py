"""The options that several commands share, and those of `fit` that are about documents and results."""

from pathlib import Path
from typing import Annotated

import typer

_READING, _WORDS, _OUTPUT = "Reading", "Text to counts", "Output"

InputPath = Annotated[Path, typer.Argument(metavar="INPUT", help="File or folder with the documents.")]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that fit wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        rich_help_panel=_READING,
        help="jsonl, csv, tsv, parquet, lines, folder, uci, ldac, mtx, npz or corpus; of vectors "
        "npy, csv, tsv, parquet, vectors or images; otherwise told by name and content.",
    ),
]
TextField = Annotated[
    str | None,
    typer.Option("--text-field", rich_help_panel=_READING, help="Column or JSON field of the text."),
]
NameField = Annotated[
    str | None,
    typer.Option("--name-field", rich_help_panel=_READING, help="Column or field of the documents' names."),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        rich_help_panel=_READING,
        help="File with a word on each line: the columns of counts, or the words to count in texts.",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", rich_help_panel=_READING, help="Encoding of text files.")]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        rich_help_panel=_READING,
        help="Between the fields of CSV and TSV: one character, or tab; otherwise told by the first rows.",
    ),
]
GroupField = Annotated[
    str | None,
    typer.Option("--group-field", rich_help_panel=_READING, help="Of vectors in a table: the column of their groups."),
]
PatchSize = Annotated[
    int | None,
    typer.Option(
        "--patch-size", min=2, max=1024, rich_help_panel=_READING, help="Of images: side of a patch; otherwise 8."
    ),
]
MostPatches = Annotated[
    int | None,
    typer.Option(
        "--patches", min=1, rich_help_panel=_READING, help="Of images: most patches of each; otherwise 1,000."
    ),
]
MaxDocumentBytes = Annotated[
    int | None,
    typer.Option(
        "--max-document-bytes",
        min=1,
        metavar="BYTES",
        rich_help_panel=_READING,
        help="Most bytes of one line or document: 64 MiB.",
    ),
]
MaxUnpackedBytes = Annotated[
    int | None,
    typer.Option(
        "--max-unpacked-bytes",
        min=1,
        metavar="BYTES",
        rich_help_panel=_READING,
        help="Most bytes that a compressed file may hold: 200 times its size, at least 256 MiB.",
    ),
]
MaxDeclared = Annotated[
    int | None,
    typer.Option(
        "--max-declared",
        min=1,
        metavar="NUMBER",
        rich_help_panel=_READING,
        help="Most documents or words that a header may declare beyond the file's bytes: 1,000,000.",
    ),
]

StopWords = Annotated[
    str,
    typer.Option(
        "--stop-words",
        rich_help_panel=_WORDS,
        help="english, none, a file with the words to leave out, or english+FILE for both.",
    ),
]
MinDf = Annotated[
    str,
    typer.Option(
        "--min-df",
        rich_help_panel=_WORDS,
        help="Leave out words in fewer documents: a number (5) or a share (0.01).",
    ),
]
MaxDf = Annotated[
    str,
    typer.Option(
        "--max-df",
        rich_help_panel=_WORDS,
        help="Leave out words in more documents: a share (0.5) or a number (500).",
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option("--max-features", min=1, rich_help_panel=_WORDS, help="Keep only the most frequent words."),
]
NgramMin = Annotated[
    int,
    typer.Option("--ngram-min", min=1, max=5, rich_help_panel=_WORDS, help="2 leaves out single words."),
]
NgramMax = Annotated[
    int,
    typer.Option("--ngram-max", min=1, max=5, rich_help_panel=_WORDS, help="2 counts also pairs of words."),
]
TokenPattern = Annotated[
    str | None,
    typer.Option("--token-pattern", rich_help_panel=_WORDS, help="Regular expression of a word."),
]
KeepCase = Annotated[bool, typer.Option("--keep-case", rich_help_panel=_WORDS, help="Do not make the text lower case.")]
StripAccents = Annotated[
    str | None,
    typer.Option("--strip-accents", rich_help_panel=_WORDS, help="ascii or unicode: remove accents."),
]

Out = Annotated[Path, typer.Option("--out", "-o", rich_help_panel=_OUTPUT, help="Folder to write the model to.")]
HeldOut = Annotated[
    float | None,
    typer.Option(
        "--held-out",
        rich_help_panel=_OUTPUT,
        help="Share of documents (0.1) or their number (500) to hold out and score.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option("--checkpoint", rich_help_panel=_OUTPUT, help="Folder to save the state to after each lap."),
]
Resume = Annotated[bool, typer.Option("--resume", rich_help_panel=_OUTPUT, help="Go on from the checkpoint.")]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        rich_help_panel=_OUTPUT,
        help="File of the HTML report; otherwise report.html in the model.",
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", rich_help_panel=_OUTPUT, help="Write no report.")]
Force = Annotated[bool, typer.Option("--force", rich_help_panel=_OUTPUT, help="Replace a model that is there already.")]
