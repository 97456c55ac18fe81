"""The Responses API of openai over one WebSocket: lanes of a session, or, where the loop is streamed, events as they come."""

import base64

import openai
from openai.lib.responses_websocket import ResponsesWebSocketError, ResponsesWebSocketLimits, ResponsesWebSocketSession

# More than the account may have in flight.
LANES = 16
SECONDS = 30
LIMITS = ResponsesWebSocketLimits(
    max_lanes=32, max_events_per_lane=1000, max_events=10_000, max_bytes_per_lane=10**7, max_bytes=10**8
)
# What the model says to a question without tools.
PUZZLED = "What do you mean?"
TOOLS = [
    {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
]


def run(loop, look, system: str) -> str:
    client = openai.OpenAI(base_url=f"{loop.url}/v1", api_key=loop.key, max_retries=0)
    with client.responses.connect() as connection:
        if loop.stream:
            return read_loop(connection, loop, look, system)
        with ResponsesWebSocketSession(connection, limits=LIMITS) as session:
            return use_lanes(session, loop, look, system)


def use_lanes(session, loop, look, system: str) -> str:
    def ask(lane, **asked):
        send(lane, **{"model": loop.model, **asked})
        return lane.get_final_response(timeout=SECONDS)

    main, fork = session.lane("main"), session.lane("fork")
    check_refusals(lambda **asked: ask(main, **{"store": False, **asked}))
    first = begin(lambda **asked: ask(main, **asked), loop, system)
    forked = finish(lambda **asked: ask(fork, **asked), first, look)
    answer = finish(lambda **asked: ask(main, **asked), first, look)
    expect("the fork", forked, answer)
    lanes = [session.lane(f"lane-{number}") for number in range(LANES)]
    for lane in lanes:
        send(lane, model=loop.model, input="Who are you?", store=False)
    for lane in lanes:
        expect(f"lane {lane._state.stream_id}", lane.get_final_response(timeout=SECONDS).output_text, PUZZLED)
    return answer


def send(lane, **asked) -> None:
    lane.send({"type": "response.create", **asked})


def check_refusals(ask) -> None:
    """Errors end a request, not the connection."""
    expect_error(ask, "model_not_found", model="nowhere", input="Who are you?")
    expect_error(ask, "previous_response_not_found", input="Go on.", previous_response_id="resp_unknown")
    response = ask(input="Who are you?")
    expect("the answer after errors", (response.status, response.output_text), ("completed", PUZZLED))


def read_loop(connection, loop, look, system: str) -> str:
    def ask(**asked):
        return read_events(connection, **{"model": loop.model, "store": False, **asked})

    check_refusals(ask)
    expect_error(ask, None, input="Who are you?", background=True)
    expect_error(ask, "invalid_stream_id", input="Who are you?", stream_id="not a lane")
    return finish(ask, begin(ask, loop, system), look)


def begin(ask, loop, system: str):
    """A warm-up has the question, and the first answer calls a tool."""
    asked = {"instructions": system, "tools": TOOLS, "store": False}
    warm = ask(generate=False, input=[{"type": "message", "role": "user", "content": parts(loop)}], **asked)
    expect("the warm-up", (warm.status, warm.output), ("completed", []))
    return ask(input="Go on.", previous_response_id=warm.id, **asked)


def finish(ask, response, look) -> str:
    """Sends the results only. The connection has the rest."""
    for _ in range(3):
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": look()} for call in calls]
        response = ask(input=results, tools=TOOLS, store=False, previous_response_id=response.id)
    return "it never ended"


def read_events(connection, **asked):
    """The final response, whose text the deltas have said too."""
    connection.response.create(**asked)
    said, numbers = "", []
    while True:
        event = connection.recv()
        if event.type == "error":
            raise ResponsesWebSocketError(event)
        if event.type == "response.metadata":
            continue
        numbers.append(event.sequence_number)
        if event.type == "response.output_text.delta":
            said += event.delta
        if event.type in ("response.completed", "response.failed", "response.incomplete"):
            expect("the deltas", said, event.response.output_text)
            expect("sequence_number", numbers, sorted(set(numbers)))
            return event.response


def parts(loop) -> list:
    image = {"type": "input_image", "image_url": data_url("image/png", loop.image), "detail": "auto"}
    pdf = loop.pdf and {
        "type": "input_file",
        "filename": "map.pdf",
        "file_data": data_url("application/pdf", loop.pdf),
    }
    return [image, *([pdf] if pdf else []), {"type": "input_text", "text": loop.question}]


def data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def expect_error(ask, code: str | None, **asked) -> None:
    """@param code None where an error has none of its own"""
    try:
        response = ask(**asked)
    except ResponsesWebSocketError as error:
        event = error.event
        expect("the error", (event.status, event.error.code if code else None), (400, code))
        return
    raise AssertionError(f"{asked} is answered with {response.status}")


def expect(what: str, found, wanted) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: {found!r} in place of {wanted!r}")
