"""The options that several commands share, and those of `fit` that are about documents and results."""

from pathlib import Path
from typing import Annotated

import typer

from stickbreak.cli.groups import INPUT, OUTPUT, STOPPING, TEXT

InputPath = Annotated[Path, typer.Argument(metavar="INPUT", help="File or folder with the documents.")]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that fit wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages.")]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="NUMBER", help="Seed of everything random.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="NUMBER", help="Threads; otherwise all cores. The result does not depend on it."
    ),
]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        rich_help_panel=INPUT,
        help="jsonl, csv, tsv, parquet, lines, folder, uci, ldac, mtx, npz or corpus; of vectors "
        "npy, csv, tsv, parquet, vectors or images; otherwise told by name and content.",
    ),
]
TextField = Annotated[
    str | None,
    typer.Option("--text-field", metavar="NAME", rich_help_panel=INPUT, help="Column or JSON field of the text."),
]
NameField = Annotated[
    str | None,
    typer.Option(
        "--name-field", metavar="NAME", rich_help_panel=INPUT, help="Column or field of the documents' names."
    ),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        rich_help_panel=INPUT,
        help="File with a word on each line: the columns of counts, or the words to count in texts.",
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", rich_help_panel=INPUT, help="Encoding of text files.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="TEXT",
        rich_help_panel=INPUT,
        help="Between the fields of CSV and TSV: one character, or tab; otherwise told by the first rows.",
    ),
]
GroupField = Annotated[
    str | None,
    typer.Option(
        "--group-field",
        metavar="NAME",
        rich_help_panel=INPUT,
        help="Of vectors in a table: the column of their groups.",
    ),
]
PatchSize = Annotated[
    int | None,
    typer.Option(
        "--patch-size",
        min=2,
        max=1024,
        metavar="NUMBER",
        rich_help_panel=INPUT,
        help="Of images: side of a patch; otherwise 8.",
    ),
]
MostPatches = Annotated[
    int | None,
    typer.Option(
        "--patches",
        min=1,
        metavar="NUMBER",
        rich_help_panel=INPUT,
        help="Of images: most patches of each; otherwise 1,000.",
    ),
]
MaxDocumentBytes = Annotated[
    int | None,
    typer.Option(
        "--max-document-bytes",
        min=1,
        metavar="BYTES",
        rich_help_panel=INPUT,
        help="Most bytes of one line or document: 64 MiB.",
    ),
]
MaxUnpackedBytes = Annotated[
    int | None,
    typer.Option(
        "--max-unpacked-bytes",
        min=1,
        metavar="BYTES",
        rich_help_panel=INPUT,
        help="Most bytes that a compressed file may hold: 200 times its size, at least 256 MiB.",
    ),
]
MaxDeclared = Annotated[
    int | None,
    typer.Option(
        "--max-declared",
        min=1,
        metavar="NUMBER",
        rich_help_panel=INPUT,
        help="Most documents or words that a header may declare beyond the file's bytes: 1,000,000.",
    ),
]

StopWords = Annotated[
    str,
    typer.Option(
        "--stop-words",
        metavar="WORDS",
        rich_help_panel=TEXT,
        help="Words to drop: english, none, a file, or english+FILE.",
    ),
]
MinDf = Annotated[
    str,
    typer.Option(
        "--min-df",
        rich_help_panel=TEXT,
        metavar="NUMBER",
        help="Drop words in fewer documents: number or share.",
    ),
]
MaxDf = Annotated[
    str,
    typer.Option(
        "--max-df",
        rich_help_panel=TEXT,
        metavar="NUMBER",
        help="Drop words in more documents: number or share.",
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(
        "--max-features", metavar="NUMBER", min=1, rich_help_panel=TEXT, help="Keep only the most frequent words."
    ),
]
NgramMin = Annotated[
    int,
    typer.Option(
        "--ngram-min", metavar="NUMBER", min=1, max=5, rich_help_panel=TEXT, help="2 leaves out single words."
    ),
]
NgramMax = Annotated[
    int,
    typer.Option(
        "--ngram-max", metavar="NUMBER", min=1, max=5, rich_help_panel=TEXT, help="2 counts also pairs of words."
    ),
]
TokenPattern = Annotated[
    str | None,
    typer.Option("--token-pattern", metavar="PATTERN", rich_help_panel=TEXT, help="Regular expression of a word."),
]
KeepCase = Annotated[bool, typer.Option("--keep-case", rich_help_panel=TEXT, help="Do not make the text lower case.")]
StripAccents = Annotated[
    str | None,
    typer.Option("--strip-accents", metavar="NAME", rich_help_panel=TEXT, help="ascii or unicode: remove accents."),
]

Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="FOLDER", rich_help_panel=OUTPUT, help="Folder to write the model to.")
]
HeldOut = Annotated[
    float | None,
    typer.Option(
        "--held-out",
        metavar="NUMBER",
        rich_help_panel=OUTPUT,
        help="Documents to hold out and score: number or share.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", metavar="FOLDER", rich_help_panel=STOPPING, help="Folder to save the state to after each lap."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", rich_help_panel=STOPPING, help="Go on from the checkpoint.")]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="File of the HTML report; otherwise report.html in the model.",
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", rich_help_panel=OUTPUT, help="Write no report.")]
Force = Annotated[bool, typer.Option("--force", rich_help_panel=OUTPUT, help="Replace a model that is there already.")]
