"""Holds documents against the schemas that the program prints."""

import json
import os
import subprocess

try:
    import jsonschema
except ImportError:  # scripts/setup.sh test installs it
    jsonschema = None

PROGRAM = os.environ.get("SYNERGRAPH_CLI")


def printed(name):
    return json.loads(subprocess.run([PROGRAM, "schema", name], check=True, capture_output=True, text=True).stdout)


def strict(type_):
    """The type, in which fields that only documents of earlier programs lack are required."""
    if isinstance(type_, list):
        return [strict(each) for each in type_]
    if not isinstance(type_, dict):
        return type_
    type_ = {key: strict(value) for key, value in type_.items()}
    if isinstance(type_.get("required"), list):
        type_["required"] += [key for key, of in type_["properties"].items() if "$comment" in of]
    return type_


class Schemas:
    """The schemas of all documents."""

    def __init__(self):
        self.all = strict(printed("documents"))
        self.seen = set()  #: names of documents that were checked
        self._validators = {}

    def check(self, name, document):
        self.seen.add(name)
        if name not in self._validators:
            part = {"$ref": f"#/$defs/{self.all['documents'][name]}", "$defs": self.all["$defs"]}
            self._validators[name] = jsonschema.Draft202012Validator(part)
        for error in self._validators[name].iter_errors(document):
            raise AssertionError(f"{name}: {'.'.join(map(str, error.absolute_path))}: {error.message[:300]}")

    def check_answer(self, function, text, arguments):
        """What a function of the C interface has given."""
        if function == "sg_result_json":
            document = json.loads(text)
            self.check(document.get("schema", "sg_system_curves"), document)
        elif function in self.all["documents"]:
            self.check(function, json.loads(text))
        if function == "sg_train":
            folder = os.fsdecode(arguments[0])
            with open(os.path.join(folder, "run.json"), encoding="utf-8") as notes:
                self.check("run.json", json.load(notes))
            with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as lines:
                for line in lines:
                    self.check("metrics.jsonl", json.loads(line))


def load():
    return Schemas() if PROGRAM and jsonschema else None
