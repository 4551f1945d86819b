"""Write a file or a folder whole, and look at what is there."""

from stickbreak.storage.atomic import replace_file, replace_folder


def write(path, kind):
    if kind == "file":
        with replace_file(path) as temporary:
            temporary.write_text("whole")
    else:
        with replace_folder(path, overwrite=True) as temporary:
            (temporary / "x").write_text("whole")


def content(path):
    return (path / "x" if path.is_dir() else path).read_text()
