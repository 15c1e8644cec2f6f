"""Run alike on the host, in a sandbox and on another filesystem, in the folder to work on.

  change COUNT       changes files: six tenths modified, two tenths deleted, the rest added beside them
  add COUNT          adds files in folders of their own
  ignore COUNT       adds empty files in folders of nine, below the folder that git ignores
  time PROGRAM...    prints how many milliseconds a program takes
  install FOLDER     moves node_modules away, then times npm ci with the cache beside it
  small COUNT        creates, reads and stats small files: prints the milliseconds of each
  unlink             unlinks what the first `small` that is left created, and prints the milliseconds

Nothing is deleted between what is timed: ext4 goes looking past every inode that was freed in the last minutes whenever it
makes a file.
"""
import json
import os
import shutil
import subprocess
import sys
import time

NPM_CI = ["npm", "ci", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
NPM_CI += ["--cache", ".npm-cache", "--userconfig", "/dev/null", "--loglevel", "error", "--logs-max", "0"]


def change(count):
    listed = subprocess.run(["git", "ls-files", "-z", "src"], check=True, stdout=subprocess.PIPE).stdout
    files = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    modified = min(count * 6 // 10, len(files) // 2)
    deleted = min(count * 2 // 10, len(files) // 4)
    # Spread over the whole tree.
    step = len(files) // max(1, modified + deleted)
    touched = files[::step][: modified + deleted]
    for index, name in enumerate(touched):
        if index % 4 == 3 and deleted > 0:
            os.unlink(name)
            deleted -= 1
        else:
            with open(name, "a", encoding="utf8") as file:
                file.write("// changed\n")
    for index in range(count - len(touched)):
        write(f"{os.path.dirname(files[index * step % len(files)])}/added-{index}.ts", index)


def ignore(count):
    for index in range(0, count, 9):
        folder = f"ignored/package-{index // 90}/part-{index // 9 % 10}"
        os.makedirs(folder, exist_ok=True)
        for file in range(index, min(count, index + 9)):
            open(f"{folder}/file-{file}.js", "w", encoding="utf8").close()


def add(count):
    for index in range(count):
        folder = f"added/group-{index // 100}"
        os.makedirs(folder, exist_ok=True)
        write(f"{folder}/file-{index}.ts", index)


def write(name, index):
    with open(name, "w", encoding="utf8") as file:
        file.write(f"export const added{index} = {index};\n" * 8)


def timed(work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def run(argv):
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def install(folder):
    os.chdir(folder)
    if os.path.exists("node_modules"):
        os.rename("node_modules", f"earlier-{time.time_ns()}")
    return timed(lambda: run(NPM_CI))


def small(count):
    folder = f"small-{time.time_ns()}"
    names = [f"{folder}/group-{index // 100}/file-{index}" for index in range(count)]
    for name in names:
        os.makedirs(os.path.dirname(name), exist_ok=True)

    def create():
        for name in names:
            with open(name, "wb") as file:
                file.write(b"x" * 512)

    def read():
        for name in names:
            with open(name, "rb") as file:
                file.read()

    steps = {"create": create, "read": read, "stat": lambda: [os.stat(name) for name in names]}
    return {name: timed(work) for name, work in steps.items()}


def unlink():
    folder = min(name for name in os.listdir() if name.startswith("small-"))
    names = [os.path.join(top, name) for top, _, files in os.walk(folder) for name in files]
    taken = timed(lambda: [os.unlink(name) for name in names])
    shutil.rmtree(folder)
    return {"unlink": taken}


verb, *rest = sys.argv[1:]
if verb == "change":
    change(int(rest[0]))
elif verb == "add":
    add(int(rest[0]))
elif verb == "ignore":
    ignore(int(rest[0]))
elif verb == "time":
    print(json.dumps(timed(lambda: run(rest))))
elif verb == "install":
    print(json.dumps(install(rest[0])))
elif verb == "small":
    print(json.dumps(small(int(rest[0]))))
elif verb == "unlink":
    print(json.dumps(unlink()))
else:
    sys.exit(f"unknown verb {verb}")
