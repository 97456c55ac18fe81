#!/bin/sh
# Koog 1.1.1 (JetBrains), executeStreaming of its OpenAI and Anthropic clients:
# - Chat Completions: pieces of calls that stream in turns (the format numbers them by `index`) become calls of their own, without id and
#   name, and the calls themselves have no arguments. A stream whose connection breaks ends like a whole answer, with finishReason null.
# - Responses: an answer that was cut off at its limit (`response.incomplete`) raises IncompleteStreamException, as if the connection had
#   broken, and its tokens are lost. A refusal is an answer without text.
# - Messages: the signature of a streamed thought is dropped (`encrypted` is null), which Anthropic wants back beside a call; not
#   streamed, it is there.
#
# Seen: "chat, calls in turns: look() look() ?({"a":) ?({"b":) ?(1}) ?(2}), tool_calls", "chat, broken: [Half], null",
# "responses, cut off: [Half], IncompleteStreamException", "responses, refused: [], null",
# "messages: thought with null, whole with c2lnbmVk". Exits with 1 when that changes. Needs JDK 17 or later and Maven.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId>
  <artifactId>finding</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>ai.koog</groupId><artifactId>koog-agents-jvm</artifactId><version>1.1.1</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
  </dependencies>
</project>
XML
cat > Ask.java <<'JAVA'
import ai.koog.http.client.ktor.KtorKoogHttpClient;
import ai.koog.prompt.Prompt;
import ai.koog.prompt.executor.clients.ConnectionTimeoutConfig;
import ai.koog.prompt.executor.clients.LLMClient;
import ai.koog.prompt.executor.clients.anthropic.AnthropicClientSettings;
import ai.koog.prompt.executor.clients.anthropic.AnthropicLLMClient;
import ai.koog.prompt.executor.clients.openai.OpenAIClientSettings;
import ai.koog.prompt.executor.clients.openai.OpenAILLMClient;
import ai.koog.prompt.llm.LLMCapability;
import ai.koog.prompt.llm.LLMProvider;
import ai.koog.prompt.llm.LLModel;
import ai.koog.prompt.message.Message;
import ai.koog.prompt.message.MessagePart;
import ai.koog.prompt.message.RequestMetaInfo;
import ai.koog.prompt.params.LLMParams;
import ai.koog.prompt.streaming.StreamFrame;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;

public class Ask {
  static String url;

  static String chat(String delta, String end) {
    return "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{" + delta
        + "},\"logprobs\":null,\"finish_reason\":" + end + "}]}\n\n";
  }

  static String begin(int index) {
    String call = "{\"index\":" + index + ",\"id\":\"c" + index + "\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"\"}}";
    return chat("\"tool_calls\":[" + call + "]", "null");
  }

  static String piece(int index, String text) {
    String quoted = text.replace("\"", "\\\"");
    return chat("\"tool_calls\":[{\"index\":" + index + ",\"function\":{\"arguments\":\"" + quoted + "\"}}]", "null");
  }

  static String event(String json) {
    return "event: " + json.split("\"")[3] + "\ndata: " + json + "\n\n";
  }

  static String response(String status, String part) {
    String details = status.equals("incomplete") ? "{\"reason\":\"max_output_tokens\"}" : "null";
    String message = "{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\",\"status\":\"" + status + "\",\"content\":[" + part + "]}";
    return event("{\"type\":\"response." + status + "\",\"sequence_number\":9,\"response\":{\"id\":\"resp_1\",\"object\":\"response\","
        + "\"created_at\":1,\"model\":\"m\",\"status\":\"" + status + "\",\"error\":null,\"incomplete_details\":" + details + ",\"output\":["
        + message + "],\"parallel_tool_calls\":true,\"tool_choice\":\"auto\",\"tools\":[],\"temperature\":1,\"top_p\":1,\"metadata\":{},"
        + "\"instructions\":null,\"max_output_tokens\":null,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},"
        + "\"store\":false,\"text\":{\"format\":{\"type\":\"text\"}},\"truncation\":\"disabled\",\"user\":null,"
        + "\"usage\":{\"input_tokens\":5,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":6,"
        + "\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":11}}}");
  }

  static final String PLACE = "\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"sequence_number\":1";
  static final String USAGE = "\"usage\":{\"input_tokens\":5,\"output_tokens\":6}";

  static String answer(String model) {
    switch (model) {
      case "turns":
        return begin(0) + begin(1) + piece(0, "{\"a\":") + piece(1, "{\"b\":") + piece(0, "1}") + piece(1, "2}") + chat("", "\"tool_calls\"") + "data: [DONE]\n\n";
      case "broken":
        return chat("\"role\":\"assistant\",\"content\":\"Half\"", "null");
      case "limit":
        return event("{\"type\":\"response.output_text.delta\"," + PLACE + ",\"delta\":\"Half\",\"logprobs\":[]}")
            + response("incomplete", "{\"type\":\"output_text\",\"text\":\"Half\",\"annotations\":[],\"logprobs\":[]}");
      case "refused":
        return event("{\"type\":\"response.refusal.delta\"," + PLACE + ",\"delta\":\"I cannot.\"}")
            + response("completed", "{\"type\":\"refusal\",\"refusal\":\"I cannot.\"}");
      case "whole":
        return "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm.\","
            + "\"signature\":\"c2lnbmVk\"},{\"type\":\"text\",\"text\":\"Yes.\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null," + USAGE + "}";
      default:
        return event("{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\","
                + "\"content\":[],\"stop_reason\":null,\"stop_sequence\":null," + USAGE + "}}")
            + event("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}")
            + event("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm.\"}}")
            + event("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2lnbmVk\"}}")
            + event("{\"type\":\"content_block_stop\",\"index\":0}")
            + event("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":6}}")
            + event("{\"type\":\"message_stop\"}");
    }
  }

  static LLModel model(String name, LLMCapability endpoint) {
    List<LLMCapability> can = new ArrayList<>(List.of(LLMCapability.Completion.INSTANCE, LLMCapability.Tools.INSTANCE));
    if (endpoint != null) can.add(endpoint);
    return new LLModel(endpoint == null ? LLMProvider.Anthropic.INSTANCE : LLMProvider.OpenAI.INSTANCE, name, can, 100000L, 4000L);
  }

  static LLMClient client(LLModel model) {
    ConnectionTimeoutConfig time = new ConnectionTimeoutConfig(20000, 20000, 20000);
    if (model.getProvider() != LLMProvider.Anthropic.INSTANCE) {
      OpenAIClientSettings to = new OpenAIClientSettings(url, time, "v1/chat/completions", "v1/responses", "v1/embeddings", "v1/moderations", "v1/models");
      return new OpenAILLMClient("k", to, new KtorKoogHttpClient.Factory());
    }
    AnthropicClientSettings to = new AnthropicClientSettings(Map.of(model, model.getId()), url, "2023-06-01", "v1/messages", "v1/models", time);
    return new AnthropicLLMClient("k", to, new KtorKoogHttpClient.Factory());
  }

  static Prompt prompt() {
    Message question = new Message.User("Hi.", new RequestMetaInfo(kotlin.time.Instant.Companion.fromEpochSeconds(0, 0)));
    return new Prompt(List.of(question), "id", new LLMParams());
  }

  /** Texts, calls and thoughts of a stream, and how it ended. */
  static class Seen implements Flow.Subscriber<StreamFrame> {
    final StringBuilder text = new StringBuilder();
    final List<String> calls = new ArrayList<>();
    final CountDownLatch over = new CountDownLatch(1);
    String end = "no end";
    String signature = "no thought";

    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    public void onNext(StreamFrame frame) {
      if (frame instanceof StreamFrame.TextDelta) text.append(((StreamFrame.TextDelta) frame).getText());
      if (frame instanceof StreamFrame.End) end = String.valueOf(((StreamFrame.End) frame).getFinishReason());
      if (frame instanceof StreamFrame.ReasoningComplete) signature = String.valueOf(((StreamFrame.ReasoningComplete) frame).getEncrypted());
      if (frame instanceof StreamFrame.ToolCallComplete) {
        StreamFrame.ToolCallComplete call = (StreamFrame.ToolCallComplete) frame;
        calls.add((call.getName().isEmpty() ? "?" : call.getName()) + "(" + call.getContent() + ")");
      }
    }

    public void onError(Throwable error) {
      end = error.getClass().getSimpleName();
      over.countDown();
    }

    public void onComplete() {
      over.countDown();
    }
  }

  static Seen stream(LLModel model) throws InterruptedException {
    Seen seen = new Seen();
    client(model).executeStreaming(prompt(), model, List.of()).subscribe(seen);
    if (!seen.over.await(60, TimeUnit.SECONDS)) seen.end = "never over";
    return seen;
  }

  static String signature(LLModel model) {
    Message.Assistant whole = client(model).execute(prompt(), model, List.of());
    return whole.getParts().stream().filter(MessagePart.Reasoning.class::isInstance).map((part) -> String.valueOf(((MessagePart.Reasoning) part).getEncrypted())).findFirst().orElse("no thought");
  }

  public static void main(String[] unused) throws Exception {
    HttpServer vendor = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    vendor.createContext("/", (exchange) -> {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      String name = body.split("\"model\":\\s*\"")[1].split("\"")[0];
      byte[] bytes = answer(name).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("content-type", name.equals("whole") ? "application/json" : "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(bytes);
      exchange.getResponseBody().flush();
      if (name.equals("broken")) throw new IOException("the connection breaks");
      exchange.close();
    });
    vendor.start();
    url = "http://127.0.0.1:" + vendor.getAddress().getPort();
    Seen turns = stream(model("turns", LLMCapability.OpenAIEndpoint.Completions.INSTANCE));
    Seen broken = stream(model("broken", LLMCapability.OpenAIEndpoint.Completions.INSTANCE));
    Seen limit = stream(model("limit", LLMCapability.OpenAIEndpoint.Responses.INSTANCE));
    Seen refused = stream(model("refused", LLMCapability.OpenAIEndpoint.Responses.INSTANCE));
    Seen thought = stream(model("thought", null));
    List<String> seen = List.of(
        "chat, calls in turns: " + String.join(" ", turns.calls) + ", " + turns.end,
        "chat, broken: [" + broken.text + "], " + broken.end,
        "responses, cut off: [" + limit.text + "], " + limit.end,
        "responses, refused: [" + refused.text + "], " + refused.end,
        "messages: thought with " + thought.signature + ", whole with " + signature(model("whole", null)));
    List<String> wanted = List.of(
        "chat, calls in turns: look() look() ?({\"a\":) ?({\"b\":) ?(1}) ?(2}), tool_calls",
        "chat, broken: [Half], null",
        "responses, cut off: [Half], IncompleteStreamException",
        "responses, refused: [], null",
        "messages: thought with null, whole with c2lnbmVk");
    seen.forEach(System.out::println);
    System.exit(Objects.equals(seen, wanted) ? 0 : 1);
  }
}
JAVA
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=lib
timeout 300 java -cp 'lib/*' Ask.java
