/** An official SDK of a vendor. */
export type SampledSdk = 'openai' | 'anthropic' | 'gemini';

/** A program that asks one question, and the command that installs what it imports. */
interface SdkSample {
  readonly title: 'Python' | 'TypeScript';
  readonly install: string;
  readonly code: string;
}

interface SampleValues {
  readonly baseUrl: string; // of the service, without /v1
  readonly model: string;
  /** The environment variable that holds the key; the code has a placeholder for the key without one. */
  readonly keyVariable?: string;
}

/** A literal of Python, TypeScript and JSON. */
const text = (value: string) => JSON.stringify(value);

const python: Readonly<Record<SampledSdk, (url: string, model: string, key: string) => readonly [string, string]>> = {
  openai: (url, model, key) => [
    'openai',
    `from openai import OpenAI

client = OpenAI(
    base_url=${text(`${url}/v1`)},
    api_key=${key},
)
response = client.responses.create(
    model=${text(model)},
    input="Hello",
)
print(response.output_text)`,
  ],
  anthropic: (url, model, key) => [
    'anthropic',
    `from anthropic import Anthropic

client = Anthropic(
    base_url=${text(url)},
    api_key=${key},
)
message = client.messages.create(
    model=${text(model)},
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
    http_options={"base_url": ${text(url)}},
)
answer = client.models.generate_content(
    model=${text(model)},
    contents="Hello",
)
print(answer.text)`,
  ],
};

const typescript: typeof python = {
  openai: (url, model, key) => [
    'openai',
    `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${text(`${url}/v1`)},
  apiKey: ${key},
});
const response = await client.responses.create({
  model: ${text(model)},
  input: "Hello",
});
console.log(response.output_text);`,
  ],
  anthropic: (url, model, key) => [
    '@anthropic-ai/sdk',
    `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: ${text(url)},
  apiKey: ${key},
});
const message = await client.messages.create({
  model: ${text(model)},
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
  httpOptions: { baseUrl: ${text(url)} },
});
const answer = await client.models.generateContent({
  model: ${text(model)},
  contents: "Hello",
});
console.log(answer.text);`,
  ],
};

export function pythonSample(sdk: SampledSdk, { baseUrl, model, keyVariable }: SampleValues): SdkSample {
  const key = keyVariable === undefined ? '"YOUR_KEY"' : `os.environ[${text(keyVariable)}]`;
  const [name, code] = python[sdk](baseUrl, model, key);
  return {
    title: 'Python',
    install: `pip install ${name}`,
    code: keyVariable === undefined ? code : `import os\n${code}`,
  };
}

/** The sample of an SDK in TypeScript. */
export function typescriptSample(sdk: SampledSdk, { baseUrl, model, keyVariable }: SampleValues): SdkSample {
  const key = keyVariable === undefined ? '"YOUR_KEY"' : `process.env.${keyVariable}`;
  const [name, code] = typescript[sdk](baseUrl, model, key);
  return { title: 'TypeScript', install: `npm install ${name}`, code };
}
