"""The tool runner of anthropic, with its defaults. Prints one JSON line for each loop."""

import json
import os

import anthropic

client = anthropic.Anthropic(
    base_url=os.environ["LOOP_URL"], api_key=os.environ["LOOP_KEY"], max_retries=0
)


@anthropic.beta_tool
def look() -> str:
    """Looks."""
    return "nothing"


def run(model: str, stream: bool) -> str:
    runner = client.beta.messages.tool_runner(
        model=model,
        max_tokens=100,
        system="Be brief.",
        messages=[{"role": "user", "content": os.environ["LOOP_QUESTION"]}],
        tools=[look],
        stream=stream,
    )
    return "".join(block.text for block in runner.until_done().content if block.type == "text")


for model in os.environ["LOOP_MODELS"].split(","):
    for stream in (False, True):
        try:
            answer = run(model, stream)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps({"model": model, "stream": stream, "answer": answer}), flush=True)
