import type { Host } from '#core/gateway/host/host.ts';

/** A program that asks one question. */
export interface Sample {
  readonly id: string;
  readonly name: string;
  readonly code: string;
}

/** Examples of the official SDKs, with the addresses and the first model of this service. */
export function writeSamples({ service, catalog }: Pick<Host, 'service' | 'catalog'>): Sample[] {
  const { baseUrl, prefix } = service;
  const model = catalog.models[0]?.publicName ?? `${prefix}/MODEL`;
  return [
    {
      id: 'openai-python',
      name: 'OpenAI, Python',
      code: `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key="YOUR_KEY")
response = client.responses.create(model="${model}", input="Hello")
print(response.output_text)`,
    },
    {
      id: 'openai-typescript',
      name: 'OpenAI, TypeScript',
      code: `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: 'YOUR_KEY' });
const stream = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
    },
    {
      id: 'anthropic-python',
      name: 'Anthropic, Python',
      code: `# pip install anthropic
from anthropic import Anthropic

client = Anthropic(base_url="${baseUrl}", api_key="YOUR_KEY")
message = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(message.content[0].text)`,
    },
    {
      id: 'gemini-python',
      name: 'Gemini, Python',
      code: `# pip install google-genai
from google import genai

client = genai.Client(api_key="YOUR_KEY", http_options={"base_url": "${baseUrl}"})
answer = client.models.generate_content(model="${model}", contents="Hello")
print(answer.text)`,
    },
    {
      id: 'curl',
      name: 'curl',
      code: `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
  ];
}
