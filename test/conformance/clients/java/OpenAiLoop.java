import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import com.openai.models.chat.completions.ChatCompletionContentPartText;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.models.Model;
import java.util.ArrayList;
import java.util.List;

/** Chat completions. Gives every message back as it came. Answers and models satisfy the SDK's strict checks. */
final class OpenAiLoop implements Loops.Client {
    @Override
    public String run(Loops.Loop loop) {
        OpenAIClient client = OpenAIOkHttpClient.builder()
                .baseUrl(loop.url() + "/v1")
                .apiKey(loop.key())
                .maxRetries(0)
                .build();
        client.models().list().items().forEach(Model::validate);
        client.models().retrieve(loop.model()).validate();
        ChatCompletionCreateParams.Builder params = ChatCompletionCreateParams.builder()
                .model(loop.model())
                .addSystemMessage(Loops.SYSTEM)
                .addUserMessageOfArrayOfContentParts(parts(loop))
                .addTool(Loops.Look.class);
        for (int turn = 0; turn < Loops.MAX_TURNS; turn++) {
            ChatCompletionMessage message = ask(client, params.build(), loop.stream());
            List<ChatCompletionMessageToolCall> calls = message.toolCalls().orElse(List.of());
            if (calls.isEmpty()) return message.content().orElse("");
            params.addMessage(message);
            for (ChatCompletionMessageToolCall call : calls) {
                ChatCompletionMessageFunctionToolCall function = call.asFunction();
                params.addMessage(ChatCompletionToolMessageParam.builder()
                        .toolCallId(function.id())
                        .content(function.function().arguments(Loops.Look.class).get())
                        .build());
            }
        }
        return "it never ended";
    }

    private static ChatCompletionMessage ask(
            OpenAIClient client, ChatCompletionCreateParams params, boolean isStream) {
        ChatCompletion completion = isStream
                ? askStreaming(client, params)
                : client.chat().completions().create(params);
        return completion.validate().choices().get(0).message();
    }

    private static ChatCompletion askStreaming(OpenAIClient client, ChatCompletionCreateParams params) {
        ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
        try (StreamResponse<ChatCompletionChunk> chunks =
                client.chat().completions().createStreaming(params)) {
            chunks.stream().forEach(accumulator::accumulate);
        }
        return accumulator.chatCompletion();
    }

    private static List<ChatCompletionContentPart> parts(Loops.Loop loop) {
        List<ChatCompletionContentPart> parts = new ArrayList<>();
        parts.add(ChatCompletionContentPart.ofImageUrl(ChatCompletionContentPartImage.builder()
                .imageUrl(ChatCompletionContentPartImage.ImageUrl.builder()
                        .url("data:image/png;base64," + loop.image())
                        .build())
                .build()));
        loop.pdf()
                .map(data -> ChatCompletionContentPart.File.FileObject.builder()
                        .fileData("data:application/pdf;base64," + data)
                        .filename("map.pdf")
                        .build())
                .map(file -> ChatCompletionContentPart.ofFile(
                        ChatCompletionContentPart.File.builder().file(file).build()))
                .ifPresent(parts::add);
        parts.add(ChatCompletionContentPart.ofText(
                ChatCompletionContentPartText.builder().text(loop.question()).build()));
        return parts;
    }
}
