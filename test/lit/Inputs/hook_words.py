"""hook_words.py FILE: fails unless the hooks in FILE use each action that brew-run's error on standard
input lists, and each operator of conditions."""
import re
import sys

actions = re.search(r"there are: (.*)\)", sys.stdin.read()).group(1).split(", ")
assert len(actions) > 20, actions
with open(sys.argv[1]) as file:
    text = re.sub(r"#.*", "", file.read())
operators = ["highest", "lowest", "external", "for", "and", "or", "not"]
missing = [word for word in actions + operators if not re.search(r"\b%s\b" % word, text)]
sys.exit("not used: " + ", ".join(missing) if missing else 0)
