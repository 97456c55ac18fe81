import type { TryMessage } from './conversation.ts';

/**
 * Code for the request of the page. The template has `%BODY%`, `%MODEL%`, `%MESSAGES%` and `%PROMPT%`, which the script of the
 * page fills as `fillSample` does.
 */
export interface TrySample {
  readonly id: 'curl' | 'python' | 'typescript';
  readonly label: string;
  readonly template: string;
}

/** @param apiUrl with `/v1` */
export function conversationSamples(apiUrl: string): readonly TrySample[] {
  return samplesOf(apiUrl, {
    path: '/chat/completions',
    python: `stream = client.chat.completions.create(
    model=%MODEL%,
    messages=%MESSAGES%,
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
    typescript: `const stream = await client.chat.completions.create({
  model: %MODEL%,
  messages: %MESSAGES%,
  stream: true,
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? "");
}`,
  });
}

/** The same for a model that only makes images. */
export function imageSamples(apiUrl: string): readonly TrySample[] {
  return samplesOf(apiUrl, {
    path: '/images/generations',
    python: `image = client.images.generate(
    model=%MODEL%,
    prompt=%PROMPT%,
)
print(image.data[0])`,
    typescript: `const image = await client.images.generate({
  model: %MODEL%,
  prompt: %PROMPT%,
});
console.log(image.data[0]);`,
  });
}

/** @param calls the path of the endpoint, and its call by a client of the SDK */
function samplesOf(
  apiUrl: string,
  calls: Readonly<Record<'path' | 'python' | 'typescript', string>>,
): readonly TrySample[] {
  return [
    {
      id: 'curl',
      label: 'curl',
      template: `curl ${apiUrl}${calls.path} \\
  -H "Authorization: Bearer YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '%BODY%'`,
    },
    {
      id: 'python',
      label: 'Python',
      template: `# pip install openai
from openai import OpenAI

client = OpenAI(
    base_url="${apiUrl}",
    api_key="YOUR_KEY",
)
${calls.python}`,
    },
    {
      id: 'typescript',
      label: 'TypeScript',
      template: `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${apiUrl}",
  apiKey: "YOUR_KEY",
});
${calls.typescript}`,
    },
  ];
}

/** The code of a request. JSON is a literal of Python and TypeScript as well; in the shell it is in single quotes. */
export function fillSample(template: string, model: string, messages: readonly TryMessage[], isStream = true): string {
  const prompt = messages.at(-1)?.content ?? '';
  const body = isStream ? { model, messages, stream: true } : { model, prompt };
  const indent = template.startsWith('//') ? 2 : 4;
  const values: Readonly<Record<string, string>> = {
    BODY: JSON.stringify(body, undefined, 2).replaceAll("'", `'\\''`),
    MODEL: JSON.stringify(model),
    MESSAGES: JSON.stringify(messages, undefined, indent).replaceAll('\n', `\n${' '.repeat(indent)}`),
    PROMPT: JSON.stringify(prompt),
  };
  return template.replaceAll(/%([A-Z]+)%/g, (whole, name: string) => values[name] ?? whole);
}
