import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.ResponseConnection;
import com.openai.core.http.ResponseWebSocketException;
import com.openai.core.http.ResponseWebSocketOptions;
import com.openai.core.http.WebSocketWriteNotAttempted;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponsesClientEvent;
import com.openai.models.responses.ResponsesServerEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** The Responses API over one WebSocket: lanes, or, where the loop is streamed, events as they come. */
final class OpenAiSocketLoop implements Loops.Client {
    /** More than the account may have in flight. */
    private static final int LANES = 16;
    /** What the model says to a question without tools. */
    private static final String PUZZLED = "What do you mean?";

    private static final JsonValue TOOLS = JsonValue.from(List.of(Map.of(
            "type", "function",
            "name", "look",
            "description", "Looks.",
            "parameters", Map.of("type", "object", "properties", Map.of()))));

    /** Adds to a request. */
    private interface Asked {
        ResponsesClientEvent.ResponseCreate.Builder to(ResponsesClientEvent.ResponseCreate.Builder request);
    }

    /** Sends a request and waits for its response. */
    private interface Asker {
        Response ask(Asked asked);
    }

    @Override
    public String run(Loops.Loop loop) {
        OpenAIClient client = OpenAIOkHttpClient.builder()
                .baseUrl(loop.url() + "/v1")
                .apiKey(loop.key())
                .maxRetries(0)
                .build();
        ResponseWebSocketOptions options =
                ResponseWebSocketOptions.builder().maxLanes(32).build();
        try (ResponseConnection connection = client.responses().connect(options)) {
            return loop.stream() ? readLoop(connection, loop) : useLanes(connection, loop);
        }
    }

    private static String useLanes(ResponseConnection connection, Loops.Loop loop) {
        ResponseConnection.Lane fork = connection.lane("fork");
        Asker main = in(connection.lane("main"), loop);
        checkRefusals(main);
        Response first = begin(main, loop);
        String forked = finish(in(fork, loop), first);
        String answer = finish(main, first);
        expect("the fork", forked, answer);
        List<ResponseConnection.Lane> lanes = new ArrayList<>();
        for (int number = 0; number < LANES; number++) lanes.add(connection.lane("lane-" + number));
        for (ResponseConnection.Lane lane : lanes) send(lane, event(loop, request -> request.input("Who are you?")));
        for (ResponseConnection.Lane lane : lanes) expect("a lane", text(lane.finalResponse()), PUZZLED);
        return answer;
    }

    private static Asker in(ResponseConnection.Lane lane, Loops.Loop loop) {
        return asked -> {
            send(lane, event(loop, asked));
            return lane.finalResponse();
        };
    }

    /** The SDK queues no command while it writes the one before, whatever `maxPendingSends` is. */
    private static void send(ResponseConnection.Lane lane, ResponsesClientEvent event) {
        for (int tries = 0; ; tries++) {
            try {
                lane.send(event);
                return;
            } catch (WebSocketWriteNotAttempted.Busy busy) {
                if (tries == 1_000) throw busy;
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private static String readLoop(ResponseConnection connection, Loops.Loop loop) {
        Asker asker = asked -> {
            connection.send(event(loop, asked));
            return readEvents(connection);
        };
        checkRefusals(asker);
        expectError(asker, "invalid_stream_id", request -> request.input("Who are you?").streamId("not a lane"));
        return finish(asker, begin(asker, loop));
    }

    /** The final response, whose text the deltas have said too. */
    private static Response readEvents(ResponseConnection connection) {
        StringBuilder said = new StringBuilder();
        while (true) {
            ResponsesServerEvent event = connection.receive();
            if (event.isError()) throw new ResponseWebSocketException(event);
            if (event.isResponseOutputTextDelta())
                said.append(event.asResponseOutputTextDelta().delta());
            if (event.isResponseCompleted()) {
                Response response = event.asResponseCompleted().response();
                expect("the deltas", said.toString(), text(response));
                return response;
            }
        }
    }

    /** Errors end a request, not the connection. */
    private static void checkRefusals(Asker asker) {
        expectError(asker, "model_not_found", request -> request.model("nowhere").input("Who are you?"));
        expectError(
                asker,
                "previous_response_not_found",
                request -> request.input("Go on.").previousResponseId("resp_unknown"));
        expect("the answer after errors", text(asker.ask(request -> request.input("Who are you?"))), PUZZLED);
    }

    private static void expectError(Asker asker, String code, Asked asked) {
        try {
            asker.ask(asked);
        } catch (ResponseWebSocketException error) {
            ResponsesServerEvent.ResponseWsError event = error.event().asError();
            expect("the status", String.valueOf(event.status().orElse(0L)), "400");
            expect("the code", event.error().code().orElse(""), code);
            return;
        }
        throw new IllegalStateException("there is no error " + code);
    }

    /** A warm-up has the question, and the first answer calls a tool. */
    private static Response begin(Asker asker, Loops.Loop loop) {
        JsonValue question = JsonValue.from(List.of(Map.of("type", "message", "role", "user", "content", parts(loop))));
        Response warm = asker.ask(request -> request.generate(false)
                .instructions(Loops.SYSTEM)
                .tools(TOOLS)
                .input(question));
        expect("the warm-up", warm.output().toString(), "[]");
        return asker.ask(request -> request.instructions(Loops.SYSTEM)
                .tools(TOOLS)
                .input("Go on.")
                .previousResponseId(warm.id()));
    }

    /** Sends the results only. The connection has the rest. */
    private static String finish(Asker asker, Response first) {
        Response response = first;
        for (int turn = 0; turn < Loops.MAX_TURNS; turn++) {
            List<Map<String, String>> results = response.output().stream()
                    .filter(ResponseOutputItem::isFunctionCall)
                    .map(item -> Map.of(
                            "type", "function_call_output",
                            "call_id", item.asFunctionCall().callId(),
                            "output", new Loops.Look().get()))
                    .collect(Collectors.toList());
            if (results.isEmpty()) return text(response);
            String previous = response.id();
            response = asker.ask(request -> request.tools(TOOLS)
                    .input(JsonValue.from(results))
                    .previousResponseId(previous));
        }
        return "it never ended";
    }

    private static ResponsesClientEvent event(Loops.Loop loop, Asked asked) {
        ResponsesClientEvent.ResponseCreate.Builder request = ResponsesClientEvent.ResponseCreate.builder()
                .model(loop.model())
                .store(false);
        return ResponsesClientEvent.ofResponseCreate(asked.to(request).build());
    }

    private static String text(Response response) {
        return response.output().stream()
                .filter(ResponseOutputItem::isMessage)
                .flatMap(item -> item.asMessage().content().stream())
                .map(content -> content.asOutputText().text())
                .collect(Collectors.joining());
    }

    private static List<Map<String, String>> parts(Loops.Loop loop) {
        List<Map<String, String>> parts = new ArrayList<>();
        parts.add(Map.of("type", "input_image", "image_url", "data:image/png;base64," + loop.image(), "detail", "auto"));
        loop.pdf()
                .map(data -> Map.of(
                        "type", "input_file",
                        "filename", "map.pdf",
                        "file_data", "data:application/pdf;base64," + data))
                .ifPresent(parts::add);
        parts.add(Map.of("type", "input_text", "text", loop.question()));
        return parts;
    }

    private static void expect(String what, String found, String wanted) {
        if (!found.equals(wanted)) throw new IllegalStateException(what + ": " + found + " in place of " + wanted);
    }
}
