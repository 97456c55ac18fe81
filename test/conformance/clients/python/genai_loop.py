"""google-genai calling functions by itself."""

from google import genai
from google.genai import types


def run(loop, look, system: str) -> str:
    client = genai.Client(api_key=loop.key, http_options=types.HttpOptions(base_url=loop.url))
    config = types.GenerateContentConfig(system_instruction=system, tools=[look])
    asked = {"model": loop.model, "contents": parts(loop), "config": config}
    if not loop.stream:
        return client.models.generate_content(**asked).text
    text = ""
    for chunk in client.models.generate_content_stream(**asked):
        content = chunk.candidates[0].content if chunk.candidates else None
        for part in (content.parts if content else None) or []:
            if part.function_call or part.function_response:
                text = ""
            elif part.text:
                text += part.text
    return text


def parts(loop) -> list:
    files = [(loop.image, "image/png"), (loop.pdf, "application/pdf")]
    sent = [types.Part.from_bytes(data=data, mime_type=type) for data, type in files if data is not None]
    return [*sent, loop.question]
