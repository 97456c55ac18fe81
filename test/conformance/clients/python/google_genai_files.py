"""google-genai calling functions by itself, with an image and a PDF. Prints one JSON line for each loop."""

import base64
import json
import os

from google import genai
from google.genai import types

client = genai.Client(
    api_key=os.environ["LOOP_KEY"], http_options=types.HttpOptions(base_url=os.environ["LOOP_URL"])
)
contents = [
    types.Part.from_bytes(data=base64.b64decode(os.environ["LOOP_IMAGE"]), mime_type="image/png"),
    types.Part.from_bytes(data=base64.b64decode(os.environ["LOOP_PDF"]), mime_type="application/pdf"),
    os.environ["LOOP_QUESTION"],
]


def look() -> str:
    """Looks."""
    return "nothing"


def run(model: str, stream: bool) -> str:
    config = types.GenerateContentConfig(system_instruction="Be brief.", tools=[look])
    if not stream:
        return client.models.generate_content(model=model, contents=contents, config=config).text
    text = ""
    for chunk in client.models.generate_content_stream(model=model, contents=contents, config=config):
        parts = chunk.candidates[0].content.parts if chunk.candidates and chunk.candidates[0].content else None
        for part in parts or []:
            if part.function_call or part.function_response:
                text = ""
            elif part.text:
                text += part.text
    return text


for model in os.environ["LOOP_MODELS"].split(","):
    for stream in (False, True):
        try:
            answer = run(model, stream)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps({"model": model, "stream": stream, "answer": answer}), flush=True)
