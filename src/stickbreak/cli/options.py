"""The options that several commands share, and those of `fit` that are about documents and results."""

from pathlib import Path
from typing import Annotated

import typer

from stickbreak.cli.groups import INPUT, OUTPUT, STOPPING, TEXT
from stickbreak.storage.urls import location_of

InputPath = Annotated[  # or a UrlPath: typer knows no unions
    Path, typer.Argument(parser=location_of, metavar="INPUT", help="Documents: a file, a folder or a URL.")
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a model, written by fit.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
TopicsShown = Annotated[
    int, typer.Option("--topics-shown", min=0, metavar="NUMBER", rich_help_panel=OUTPUT, help="Most topics to print.")
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", rich_help_panel=OUTPUT, help="Also print numbers for experts."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and warnings only.")]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="NUMBER", help="Seed of the random numbers.")]
ALL_CORES = -1
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        metavar="NUMBER",
        help="Threads. Default: all cores. They do not change the result.",
    ),
]

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="NUMBER",
        help="Processes on this machine that share the work (needs Dask). They do not change the result. Models of "
        "vectors do not use them.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Address of a Dask scheduler, such as tcp://host:8786, whose workers share the work.",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        help="With --cluster: a folder that all its machines see, to which documents are copied for the workers.",
    ),
]

FitWorkers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="NUMBER",
        help="Processes on this machine that share the work, in place of threads (needs Dask). They do not change the "
        "result.",
    ),
]
FitCluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Address of a Dask scheduler, such as tcp://host:8786, whose workers share the work.",
    ),
]
FitScratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        help="Folder for what a fit keeps of its documents, for fits that are larger than memory: "
        "variational, tree, gibbs (--representation partially-collapsed) and models of vectors. With --cluster all "
        "its machines must see it.",
    ),
]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        rich_help_panel=INPUT,
        help="Format of the input: jsonl, csv, tsv, parquet, lines, folder, uci, ldac, mtx, npz or corpus; for vectors "
        "npy, csv, tsv, parquet, vectors or images. Default: recognized from name and content.",
    ),
]
TextField = Annotated[
    str | None,
    typer.Option("--text-field", metavar="NAME", rich_help_panel=INPUT, help="Column or JSON field of the text."),
]
NameField = Annotated[
    str | None,
    typer.Option(
        "--name-field", metavar="NAME", rich_help_panel=INPUT, help="Column or JSON field of the documents' names."
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="NAMES",
        rich_help_panel=INPUT,
        help="Columns or JSON fields to keep beside the counts, such as date,category; or all.",
    ),
]
Dates = Annotated[
    str | None,
    typer.Option("--dates", metavar="COLUMN", help="Column of the dates. Default: the only one that holds dates."),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        "--date-format", metavar="TEXT", help="How dates are written, such as %d.%m.%Y. Default: 2026-11-23 (ISO 8601)."
    ),
]
Since = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Only documents from this day on.")]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Only documents up to this day.")]
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
    str | None, typer.Option("--encoding", metavar="NAME", rich_help_panel=INPUT, help="Encoding of text files.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="TEXT",
        rich_help_panel=INPUT,
        help="Character between the fields of CSV and TSV, or tab. Default: recognized from the first rows.",
    ),
]
GroupField = Annotated[
    str | None,
    typer.Option(
        "--group-field",
        metavar="NAME",
        rich_help_panel=INPUT,
        help="For a table of vectors: column of their groups.",
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
        help="For images: width and height of a patch in pixels. Default: 8.",
    ),
]
MostPatches = Annotated[
    int | None,
    typer.Option(
        "--patches",
        min=1,
        metavar="NUMBER",
        rich_help_panel=INPUT,
        help="For images: most patches per image. Default: 1,000.",
    ),
]
MaxDocumentBytes = Annotated[
    int | None,
    typer.Option(
        "--max-document-bytes",
        min=1,
        metavar="BYTES",
        rich_help_panel=INPUT,
        help="Largest line or document, in bytes. Default: 64 MiB.",
    ),
]
MaxUnpackedBytes = Annotated[
    int | None,
    typer.Option(
        "--max-unpacked-bytes",
        min=1,
        metavar="BYTES",
        rich_help_panel=INPUT,
        help="Largest size of a compressed file once unpacked, in bytes. Default: 200 times its size, "
        "at least 256 MiB.",
    ),
]
MaxDeclared = Annotated[
    int | None,
    typer.Option(
        "--max-declared",
        min=1,
        metavar="NUMBER",
        rich_help_panel=INPUT,
        help="Most documents or words that a header may declare beyond what the file can hold. Default: 1,000,000.",
    ),
]

StopWords = Annotated[
    str,
    typer.Option(
        "--stop-words",
        metavar="WORDS",
        rich_help_panel=TEXT,
        help="Words to drop: a language, none, a file, or english+FILE.",
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
        "--ngram-min",
        metavar="NUMBER",
        min=1,
        max=5,
        rich_help_panel=TEXT,
        help="Fewest words of an n-gram. 2 leaves out single words.",
    ),
]
NgramMax = Annotated[
    int,
    typer.Option(
        "--ngram-max",
        metavar="NUMBER",
        min=1,
        max=5,
        rich_help_panel=TEXT,
        help="Most words of an n-gram. 2 also counts pairs of words.",
    ),
]
TokenPattern = Annotated[
    str | None,
    typer.Option(
        "--token-pattern", metavar="PATTERN", rich_help_panel=TEXT, help="Regular expression that a word matches."
    ),
]
Phrases = Annotated[
    bool,
    typer.Option(
        "--phrases",
        rich_help_panel=TEXT,
        help="Find phrases of two words, such as new york, and count them as words.",
    ),
]
Tokenizer = Annotated[
    str | None,
    typer.Option(
        "--tokenizer",
        metavar="MODULE:FUNCTION",
        rich_help_panel=TEXT,
        help="Python function from a text to a list of words, for languages without spaces: jieba:lcut.",
    ),
]
KeepCase = Annotated[
    bool,
    typer.Option(
        "--keep-case", rich_help_panel=TEXT, help="Keep capital letters. By default, text becomes lower case."
    ),
]
StripAccents = Annotated[
    str | None,
    typer.Option("--strip-accents", metavar="NAME", rich_help_panel=TEXT, help="Remove accents: ascii or unicode."),
]

_OUT = typer.Option("--out", "-o", metavar="FOLDER", rich_help_panel=OUTPUT, help="Folder to write the model to.")
Out = Annotated[Path, _OUT]
FitOut = Annotated[Path | None, _OUT]
Estimate = Annotated[
    bool,
    typer.Option(
        "--estimate",
        rich_help_panel=OUTPUT,
        help="Say how long the fit takes and how much memory it needs, from a sample and a few passes. Write no model.",
    ),
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
        "--checkpoint",
        metavar="FOLDER",
        rich_help_panel=STOPPING,
        help="Folder to save the state to after each pass over the data.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", rich_help_panel=STOPPING, help="Continue from the checkpoint.")]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="File of the HTML report. Default: report.html in the folder of the model.",
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", rich_help_panel=OUTPUT, help="Do not write a report.")]
NoPath = Annotated[
    bool,
    typer.Option(
        "--no-path",
        rich_help_panel=OUTPUT,
        help="Do not join the topics pair by pair. Then reduce has no fewer topics.",
    ),
]
Force = Annotated[bool, typer.Option("--force", rich_help_panel=OUTPUT, help="Replace an existing model.")]
