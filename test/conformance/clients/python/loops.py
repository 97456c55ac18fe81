"""Tool loops of three turns with Python SDKs and frameworks and their defaults. The argument names the client. Prints one JSON line
for each loop."""

import base64
import importlib
import json
import os
import sys
from dataclasses import dataclass

SYSTEM = "Be brief."
MODULES = {
    "anthropic-python": "anthropic_loop",
    "google-genai-python": "genai_loop",
    "openai-python-socket": "openai_socket",
    "openai-agents-python-socket": "agents_socket",
    "google-adk-openai": "adk_loop",
    "google-adk-gemini": "adk_loop",
    "google-adk-anthropic": "adk_loop",
    "agent-framework-chat": "agent_framework_loop",
    "agent-framework-responses": "agent_framework_loop",
    "agent-framework-anthropic": "agent_framework_loop",
}


@dataclass
class Loop:
    """One conversation. `pdf` is None where the model reads none."""

    client: str
    url: str
    key: str
    model: str
    stream: bool
    question: str
    image: bytes
    pdf: bytes | None


def look() -> str:
    """Looks."""
    return "nothing"


def main() -> None:
    client = importlib.import_module(MODULES[sys.argv[1]])
    readers = os.environ["LOOP_PDF_MODELS"].split(",")
    for model in os.environ["LOOP_MODELS"].split(","):
        for stream in (False, True):
            loop = Loop(
                client=sys.argv[1],
                url=os.environ["LOOP_URL"],
                key=os.environ["LOOP_KEY"],
                model=model,
                stream=stream,
                question=os.environ["LOOP_QUESTION"],
                image=base64.b64decode(os.environ["LOOP_IMAGE"]),
                pdf=base64.b64decode(os.environ["LOOP_PDF"]) if model in readers else None,
            )
            try:
                answer = client.run(loop, look, SYSTEM)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            print(json.dumps({"model": model, "stream": stream, "answer": answer}), flush=True)


main()
