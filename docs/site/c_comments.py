"""Makes the C header's comments readable for Doxygen: `/* text */` before a declaration becomes `/** text */`, behind a member `/**< text */`.

    python3 c_comments.py synergraph.h      prints the header
"""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as header:
    lines = header.read().split("\n")
for number, line in enumerate(lines):
    if re.match(r"/\* (?!----|NOLINT)", line):
        lines[number] = "/**" + line[2:]
    elif re.search(r"\S\s*/\* ", line):
        lines[number] = re.sub(r"/\* ", "/**< ", line, count=1)
print("\n".join(lines))
