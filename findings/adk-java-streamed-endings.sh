#!/bin/sh
# Google's Agent Development Kit 1.0.0 for Java, its classes Gemini and Claude:
# - Gemini, streamed: when the last chunk has a text beside its finishReason, the response that closes the answer has no finish reason, and
#   when that is not STOP there is no such response: of an answer that was cut off or filtered, only partial responses come, which an agent
#   does not keep. When the reason comes in a chunk of its own, the text comes in a response without reason and counts, and a second response
#   without text has them if that chunk has an empty text. Not streamed, all is in one response.
# - Claude: an answer that begins with thinking is an UnsupportedOperationException. Streaming is not asked for, and neither counts of
#   tokens nor finish reasons are read, so an answer that was cut off looks whole.
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
  <dependencies>
    <dependency><groupId>com.google.adk</groupId><artifactId>google-adk</artifactId><version>1.0.0</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
  </dependencies>
</project>
XML
cat > Ask.java <<'JAVA'
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.google.adk.models.BaseLlm;
import com.google.adk.models.Claude;
import com.google.adk.models.Gemini;
import com.google.adk.models.LlmRequest;
import com.google.adk.models.LlmResponse;
import com.google.genai.Client;
import com.google.genai.types.Content;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Part;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

public class Ask {
  static String url;

  static String gemini(String text, String reason) {
    String parts = text == null ? "" : "\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"" + text + "\"}]},";
    String end = reason.isEmpty() ? "" : "\"finishReason\":\"" + reason + "\",";
    return "{\"candidates\":[{" + parts + end + "\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":5,\"candidatesTokenCount\":4,"
        + "\"totalTokenCount\":9},\"modelVersion\":\"m\",\"responseId\":\"r\"}";
  }

  /** Models are named by how their answers end. */
  static String stream(String name) {
    String reason = name.split("-")[0].toUpperCase().replace("LIMIT", "MAX_TOKENS");
    List<String> chunks = new ArrayList<>(List.of(gemini("Half ", ""), gemini("of it", name.contains("-") ? "" : reason)));
    if (name.contains("-")) chunks.add(gemini(name.endsWith("-empty") ? "" : null, reason));
    StringBuilder text = new StringBuilder();
    chunks.forEach((chunk) -> text.append("data: ").append(chunk).append("\n\n"));
    return text.toString();
  }

  static String messages(boolean thinks) {
    String thought = thinks ? "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"c2ln\"}," : "";
    return "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[" + thought + "{\"type\":\"text\",\"text\":"
        + "\"Half of it\"}],\"stop_reason\":\"max_tokens\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":4}}";
  }

  static String textOf(LlmResponse response) {
    StringBuilder text = new StringBuilder();
    response.content().flatMap(Content::parts).orElse(List.of()).forEach((part) -> part.text().ifPresent(text::append));
    return text.toString();
  }

  static String ask(BaseLlm model, boolean isStream) {
    Content question = Content.builder().role("user").parts(Part.fromText("Well?")).build();
    LlmRequest request = LlmRequest.builder().model(model.model()).contents(List.of(question)).config(GenerateContentConfig.builder().build()).build();
    List<String> seen = new ArrayList<>();
    int[] partial = {0};
    try {
      model.generateContent(request, isStream).blockingForEach((response) -> {
        if (response.partial().orElse(false)) {
          partial[0]++;
          return;
        }
        String reason = response.finishReason().map(String::valueOf).orElse("no reason");
        seen.add("[" + textOf(response) + "] " + reason + (response.usageMetadata().isPresent() ? "" : ", no counts"));
      });
    } catch (RuntimeException error) {
      seen.add(error.getClass().getSimpleName());
    }
    return partial[0] + " partial, then " + (seen.isEmpty() ? "nothing" : String.join("; ", seen));
  }

  public static void main(String[] unused) throws Exception {
    HttpServer vendor = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    vendor.createContext("/", (exchange) -> {
      String path = exchange.getRequestURI().getPath();
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      boolean isStream = path.contains("streamGenerateContent");
      String text = path.contains("messages") ? messages(body.contains("thinker"))
          : isStream ? stream(path.split("models/")[1].split(":")[0]) : gemini("Half of it", "MAX_TOKENS");
      exchange.getResponseHeaders().set("content-type", isStream ? "text/event-stream" : "application/json");
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
      exchange.close();
    });
    vendor.start();
    url = "http://127.0.0.1:" + vendor.getAddress().getPort();
    Client client = Client.builder().apiKey("k").httpOptions(HttpOptions.builder().baseUrl(url).build()).build();
    List<String> seen = new ArrayList<>();
    for (String name : List.of("stop", "limit", "safety", "limit-empty", "limit-none")) seen.add("gemini, " + name + ": " + ask(new Gemini(name, client), true));
    seen.add("gemini, whole: " + ask(new Gemini("limit", client), false));
    for (String name : List.of("writer", "thinker"))
      seen.add("claude, " + name + ": " + ask(new Claude(name, AnthropicOkHttpClient.builder().apiKey("k").baseUrl(url).build()), true));
    List<String> wanted = List.of(
        "gemini, stop: 2 partial, then [Half of it] no reason",
        "gemini, limit: 2 partial, then nothing",
        "gemini, safety: 2 partial, then nothing",
        "gemini, limit-empty: 2 partial, then [Half of it] no reason, no counts; [] MAX_TOKENS",
        "gemini, limit-none: 2 partial, then [Half of it] no reason, no counts",
        "gemini, whole: 0 partial, then [Half of it] MAX_TOKENS",
        "claude, writer: 0 partial, then [Half of it] no reason, no counts",
        "claude, thinker: 0 partial, then UnsupportedOperationException");
    seen.forEach(System.out::println);
    System.out.flush();
    Runtime.getRuntime().halt(seen.equals(wanted) ? 0 : 1);
  }
}
JAVA
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=lib
timeout 300 java -cp 'lib/*' Ask.java
