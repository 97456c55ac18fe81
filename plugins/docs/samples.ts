import type { Host } from '#core/gateway/host/host.ts';
import { pythonSample, type SampledSdk } from '#core/web/pages/sdk-samples.ts';

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
  const inPython = (sdk: SampledSdk, name: string): Sample => {
    const { install, code } = pythonSample(sdk, { baseUrl, model });
    return { id: `${sdk}-python`, name: `${name}, Python`, code: `# ${install}\n${code}` };
  };
  return [
    inPython('openai', 'OpenAI'),
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
    inPython('anthropic', 'Anthropic'),
    inPython('gemini', 'Gemini'),
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
