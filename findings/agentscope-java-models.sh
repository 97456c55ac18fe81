#!/bin/sh
# AgentScope 1.0.8 for Java (with anthropic-java 2.15.0, google-genai 1.44.0), its model classes:
# - OpenAI, streamed: after a 429 it waits and ends with "Retries exhausted: 2/2", but asks once; each try reads the failed answer again.
#   Not streamed, the second request is sent, and answered. A connection that breaks is a NullPointerException.
# - OpenAI, streamed: calls that stream in turns (Chat Completions number their pieces by `index`) have no arguments, and no error.
# - Anthropic: a system message is sent twice, as `system` and as the user's first message. `thinkingBudget` is not sent, thoughts of an
#   answer go back as its text, and streams have no token counts.
# - Gemini: a system message is sent as the user's. Output tokens are those of the answer without those of the thoughts, which Gemini's
#   candidatesTokenCount does not contain.
#
# Seen: the lines in `wanted` below. Exits with 1 when that changes. Needs JDK 17 or later and Maven.
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
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>com.fasterxml.jackson</groupId><artifactId>jackson-bom</artifactId><version>2.21.0</version>
        <type>pom</type><scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency><groupId>io.agentscope</groupId><artifactId>agentscope</artifactId><version>1.0.8</version></dependency>
    <dependency><groupId>com.anthropic</groupId><artifactId>anthropic-java</artifactId><version>2.15.0</version></dependency>
    <dependency><groupId>com.google.genai</groupId><artifactId>google-genai</artifactId><version>1.44.0</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
  </dependencies>
</project>
XML
cat > Ask.java <<'JAVA'
import com.google.genai.types.HttpOptions;
import com.sun.net.httpserver.HttpServer;
import io.agentscope.core.agent.accumulator.ReasoningContext;
import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.model.AnthropicChatModel;
import io.agentscope.core.model.ChatResponse;
import io.agentscope.core.model.GeminiChatModel;
import io.agentscope.core.model.GenerateOptions;
import io.agentscope.core.model.Model;
import io.agentscope.core.model.OpenAIChatModel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

public class Ask {
  static String url;
  /** Bodies of the requests, by model. */
  static final Map<String, List<String>> asked = new ConcurrentHashMap<>();

  static String piece(int index, String text) {
    return ",{\"index\":" + index + ",\"function\":{\"arguments\":\"" + text.replace("\"", "\\\"") + "\"}}";
  }

  static String begin(int index) {
    return ",{\"index\":" + index + ",\"id\":\"c" + index + "\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"\"}}";
  }

  static String chunk(String delta, String end) {
    return "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{" + delta
        + "},\"finish_reason\":" + end + "}]}\n\n";
  }

  static String chat(String name, boolean isStream) {
    if (!isStream) return "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":"
        + "\"assistant\",\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}}";
    if (name.equals("broken")) return chunk("\"content\":\"Half\"", "null");
    if (!name.equals("turns")) return chunk("\"content\":\"Yes.\"", "null") + chunk("", "\"stop\"") + "data: [DONE]\n\n";
    String calls = begin(0) + begin(1) + piece(0, "{\"a\":") + piece(1, "{\"b\":") + piece(0, "1}") + piece(1, "2}");
    String text = "";
    for (String call : calls.substring(1).split(",(?=\\{\"index)")) text += chunk("\"tool_calls\":[" + call + "]", "null");
    return text + chunk("", "\"tool_calls\"") + "data: [DONE]\n\n";
  }

  static final String HEAD = "\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",";
  static final String USAGE = "\"usage\":{\"input_tokens\":5,\"output_tokens\":6}";
  static final String WHOLE = "{" + HEAD + "\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"c2ln\"},{\"type\":\"text\","
      + "\"text\":\"Yes.\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null," + USAGE + "}";

  static String event(String json) {
    return "event: " + json.split("\"")[3] + "\ndata: " + json + "\n\n";
  }

  static String messages(boolean isStream) {
    if (!isStream) return WHOLE;
    return event("{\"type\":\"message_start\",\"message\":{" + HEAD + "\"content\":[],\"stop_reason\":null,\"stop_sequence\":null," + USAGE + "}}")
        + event("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}")
        + event("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Yes.\"}}")
        + event("{\"type\":\"content_block_stop\",\"index\":0}")
        + event("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":6}}")
        + event("{\"type\":\"message_stop\"}");
  }

  static final String GEMINI = "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hm.\",\"thought\":true},{\"text\":\"Yes.\"}]},"
      + "\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":5,\"candidatesTokenCount\":12,\"thoughtsTokenCount\":8,"
      + "\"totalTokenCount\":25},\"modelVersion\":\"m\",\"responseId\":\"r\"}";

  static Model openai(String name, boolean isStream) {
    return OpenAIChatModel.builder().apiKey("k").baseUrl(url + "/v1").modelName(name).stream(isStream).build();
  }

  static Model claude(String name, boolean isStream) {
    return AnthropicChatModel.builder().apiKey("k").baseUrl(url).modelName(name).stream(isStream).build();
  }

  static Msg message(MsgRole role, String text) {
    return Msg.builder().role(role).name("n").textContent(text).build();
  }

  static final List<Msg> QUESTION = List.of(message(MsgRole.SYSTEM, "Be brief."), message(MsgRole.USER, "Well?"));

  /** Chunks put together as its agents do; an exception by its name and its message. */
  static String ask(Model model, List<Msg> messages, List<ContentBlock> into) {
    ReasoningContext context = new ReasoningContext("n");
    GenerateOptions options = GenerateOptions.builder().thinkingBudget(1024).maxTokens(2000).build();
    List<ChatResponse> counted = new ArrayList<>();
    String end = "";
    try {
      model.stream(messages, null, options).doOnNext((chunk) -> {
        context.processChunk(chunk);
        if (chunk.getUsage() != null) counted.add(chunk);
      }).blockLast();
    } catch (RuntimeException error) {
      String first = String.valueOf(error.getMessage()).split("\\. |\n")[0];
      end = ", " + error.getClass().getSimpleName() + (first.startsWith("Retries") ? " " + first : "");
    }
    Msg answer = context.buildFinalMessage();
    if (answer != null) into.addAll(answer.getContent());
    String tokens = counted.isEmpty() ? "none" : String.valueOf(counted.get(counted.size() - 1).getUsage().getOutputTokens());
    return "output tokens " + tokens + end;
  }

  static int count(String text, String part) {
    return text.split(java.util.regex.Pattern.quote(part), -1).length - 1;
  }

  public static void main(String[] unused) throws Exception {
    HttpServer vendor = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    vendor.createContext("/", (exchange) -> {
      String path = exchange.getRequestURI().getPath();
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      String name = path.contains("models/") ? "gemini" : body.split("\"model\":\\s*\"")[1].split("\"")[0];
      List<String> before = asked.computeIfAbsent(name, (first) -> new ArrayList<>());
      before.add(body);
      boolean isStream = body.replace(" ", "").contains("\"stream\":true");
      boolean isLimited = name.startsWith("limited") && before.size() == 1;
      String text = name.equals("gemini") ? GEMINI : path.contains("messages") ? messages(isStream) : chat(name, isStream);
      if (isLimited) text = "{\"error\":{\"message\":\"Slow down\",\"type\":\"requests\",\"code\":\"rate_limit_exceeded\"}}";
      exchange.getResponseHeaders().set("content-type", isStream && !isLimited ? "text/event-stream" : "application/json");
      if (isLimited) exchange.getResponseHeaders().set("retry-after", "1");
      exchange.sendResponseHeaders(isLimited ? 429 : 200, 0);
      exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
      exchange.getResponseBody().flush();
      if (name.equals("broken")) throw new IOException("the connection breaks");
      exchange.close();
    });
    vendor.start();
    url = "http://127.0.0.1:" + vendor.getAddress().getPort();
    List<String> seen = new ArrayList<>();
    for (boolean isStream : new boolean[] {false, true}) {
      String name = "limited-" + isStream;
      String end = ask(openai(name, isStream), QUESTION, new ArrayList<>());
      seen.add("429, streamed " + isStream + ": " + asked.get(name).size() + " requests" + end.replaceAll("^output tokens [^,]*", ""));
    }
    seen.add("broken: " + ask(openai("broken", true), QUESTION, new ArrayList<>()));
    List<ContentBlock> calls = new ArrayList<>();
    ask(openai("turns", true), QUESTION, calls);
    seen.add("calls in turns: " + calls.stream().map((block) -> ((ToolUseBlock) block).getName() + ((ToolUseBlock) block).getInput()).collect(Collectors.joining(" ")));
    List<ContentBlock> thought = new ArrayList<>();
    String whole = ask(claude("claude", false), QUESTION, thought);
    List<Msg> next = new ArrayList<>(QUESTION);
    next.add(Msg.builder().role(MsgRole.ASSISTANT).name("n").content(thought).build());
    next.add(message(MsgRole.USER, "And?"));
    ask(claude("claude", false), next, new ArrayList<>());
    List<String> sent = asked.get("claude");
    seen.add("anthropic, whole: " + whole + ", streamed: " + ask(claude("claude", true), QUESTION, new ArrayList<>()));
    seen.add("anthropic: system prompt " + count(sent.get(0), "Be brief.") + " times, thinking asked for: " + sent.get(0).contains("\"thinking\"")
        + ", thought returned as text: " + sent.get(1).replace(" ", "").contains("{\"text\":\"Hm.\",\"type\":\"text\"}"));
    HttpOptions there = HttpOptions.builder().baseUrl(url).build();
    Model gemini = GeminiChatModel.builder().apiKey("k").modelName("m").streamEnabled(false).httpOptions(there).build();
    seen.add("gemini: " + ask(gemini, QUESTION, new ArrayList<>()) + " of 12 and 8, system instruction: "
        + asked.get("gemini").get(0).contains("systemInstruction"));
    List<String> wanted = List.of(
        "429, streamed false: 2 requests",
        "429, streamed true: 1 requests, RetryExhaustedException Retries exhausted: 2/2",
        "broken: output tokens none, NullPointerException",
        "calls in turns: look{} look{}",
        "anthropic, whole: output tokens 6, streamed: output tokens none",
        "anthropic: system prompt 2 times, thinking asked for: false, thought returned as text: true",
        "gemini: output tokens 4 of 12 and 8, system instruction: false");
    seen.forEach(System.out::println);
    System.out.flush();
    Runtime.getRuntime().halt(seen.equals(wanted) ? 0 : 1);
  }
}
JAVA
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=lib
timeout 300 java -cp 'lib/*' Ask.java
