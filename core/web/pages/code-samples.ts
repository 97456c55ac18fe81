import type { Host } from '#core/gateway/host/host.ts';
import { codePieces } from './code-pieces.ts';

export type SampledSdk = 'openai' | 'anthropic' | 'gemini';

interface SdkSample {
  readonly title: 'Python' | 'TypeScript';
  readonly install: string;
  readonly code: string;
}

interface SampleValues {
  readonly baseUrl: string; // of the service, without /v1
  readonly model: string;
  readonly keyVariable?: string; // environment variable that holds the key; if undefined, the code contains the key itself
  readonly key?: string; // default: a placeholder
}

const placeholder = 'YOUR_KEY';

const formatLiteral = (value: string) => JSON.stringify(value); // valid in Python, TypeScript and JSON

const pythonPrograms: Readonly<
  Record<SampledSdk, (url: string, model: string, key: string) => readonly [string, string]>
> = {
  openai: (url, model, key) => [
    'openai',
    `from openai import OpenAI

client = OpenAI(
    base_url=${formatLiteral(`${url}/v1`)},
    api_key=${key},
)
response = client.responses.create(
    model=${formatLiteral(model)},
    input="Hello",
)
print(response.output_text)`,
  ],
  anthropic: (url, model, key) => [
    'anthropic',
    `from anthropic import Anthropic

client = Anthropic(
    base_url=${formatLiteral(url)},
    api_key=${key},
)
message = client.messages.create(
    model=${formatLiteral(model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(message.content[0].text)`,
  ],
  gemini: (url, model, key) => [
    'google-genai',
    `from google import genai

client = genai.Client(
    api_key=${key},
    http_options={"base_url": ${formatLiteral(url)}},
)
answer = client.models.generate_content(
    model=${formatLiteral(model)},
    contents="Hello",
)
print(answer.text)`,
  ],
};

const typescriptPrograms: typeof pythonPrograms = {
  openai: (url, model, key) => [
    'openai',
    `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${formatLiteral(`${url}/v1`)},
  apiKey: ${key},
});
const response = await client.responses.create({
  model: ${formatLiteral(model)},
  input: "Hello",
});
console.log(response.output_text);`,
  ],
  anthropic: (url, model, key) => [
    '@anthropic-ai/sdk',
    `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: ${formatLiteral(url)},
  apiKey: ${key},
});
const message = await client.messages.create({
  model: ${formatLiteral(model)},
  max_tokens: 1024,
  messages: [{ role: "user", content: "Hello" }],
});
console.log(message.content);`,
  ],
  gemini: (url, model, key) => [
    '@google/genai',
    `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: ${key},
  httpOptions: { baseUrl: ${formatLiteral(url)} },
});
const answer = await client.models.generateContent({
  model: ${formatLiteral(model)},
  contents: "Hello",
});
console.log(answer.text);`,
  ],
};

export function createSdkSamples(
  sdk: SampledSdk,
  values: SampleValues,
): readonly [python: SdkSample, typescript: SdkSample] {
  const { baseUrl, model, keyVariable, key = placeholder } = values;
  const hasKeyVariable = keyVariable !== undefined;
  const [pip, pythonCode] = pythonPrograms[sdk](
    baseUrl,
    model,
    hasKeyVariable ? `os.environ[${formatLiteral(keyVariable)}]` : formatLiteral(key),
  );
  const [npm, typescriptCode] = typescriptPrograms[sdk](
    baseUrl,
    model,
    hasKeyVariable ? `process.env.${keyVariable}` : formatLiteral(key),
  );
  return [
    { title: 'Python', install: `pip install ${pip}`, code: hasKeyVariable ? `import os\n${pythonCode}` : pythonCode },
    { title: 'TypeScript', install: `npm install ${npm}`, code: typescriptCode },
  ];
}

export interface SampleTab {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly value?: string; // text to copy; default: all of the code
}

const renderPythonSample = (sdk: SampledSdk) => (values: SampleValues) => {
  const [{ title, install, code }] = createSdkSamples(sdk, values);
  return `# ${title}: ${install}\n${code}`;
};

const samples = {
  'openai-python': ['OpenAI', renderPythonSample('openai')],
  'anthropic-python': ['Anthropic', renderPythonSample('anthropic')],
  'gemini-python': ['Gemini', renderPythonSample('gemini')],
  'openai-typescript': [
    'OpenAI',
    ({ baseUrl, model, key }) => `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${key}' });
const stream = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
  ],
  curl: [
    'curl',
    ({ baseUrl, model, key }) => `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}",
    "messages": [{"role": "user", "content": "Hello"}]}'`,
  ],
  'claude-code': [
    'Claude Code',
    ({ baseUrl, model, key }) => `export ANTHROPIC_BASE_URL="${baseUrl}"
export ANTHROPIC_AUTH_TOKEN="${key}"
claude --model "${model}"`,
  ],
  openai: [
    'OpenAI',
    ({ baseUrl, model, key }) => `export OPENAI_BASE_URL="${baseUrl}/v1"
export OPENAI_API_KEY="${key}"
python -c 'from openai import OpenAI
response = OpenAI().responses.create(
    model="${model}", input="Hello")
print(response.output_text)'`,
  ],
  gemini: [
    'Gemini',
    ({ baseUrl, model, key }) => `export GOOGLE_GEMINI_BASE_URL="${baseUrl}"
export GEMINI_API_KEY="${key}"
gemini --model "${model}"`,
  ],
} satisfies Readonly<
  Record<string, readonly [name: string, write: (values: Required<Omit<SampleValues, 'keyVariable'>>) => string]>
>;

/** Renders samples with this service's URL and its first model. */
export function renderSamples(
  { service, catalog }: Pick<Host, 'service' | 'catalog'>,
  ids: readonly (keyof typeof samples)[],
  key = placeholder,
): SampleTab[] {
  const model = catalog.models[0]?.publicName ?? `${service.prefix}/MODEL`;
  return ids.map((id) => {
    const [name, render] = samples[id];
    return { id, name, code: render({ baseUrl: service.baseUrl, model, key }) };
  });
}

/** Describes the part `code`, with one tab per sample. The first sample is shown if `chosenId` is unknown. */
export function describeSamples(
  sampleTabs: readonly SampleTab[],
  chosenId: string | undefined,
  label: string,
  pathOf: (id: string) => string,
) {
  const currentSample = sampleTabs.find(({ id }) => id === chosenId) ?? sampleTabs[0];
  return {
    id: 'sample',
    label,
    tabs: sampleTabs.map(({ id, name }) => ({
      id,
      label: name,
      path: pathOf(id),
      isCurrent: id === currentSample?.id,
    })),
    pieces: codePieces(currentSample?.code ?? ''),
    value: currentSample?.value,
  };
}
