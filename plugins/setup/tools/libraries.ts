import type { CodeSample, Step, SetupTool } from '../tool.ts';
import type { SetupValues } from '../values.ts';

type Library = Pick<SetupTool, 'id' | 'name' | 'formats'> & { readonly seen?: string };

/** A library: the key goes into the environment, then there is code to start from. */
function library(
  { id, name, formats, seen }: Library,
  samples: (values: SetupValues) => readonly CodeSample[],
): SetupTool {
  return {
    id,
    name,
    formats,
    ...(seen !== undefined && { seen }),
    group: 'libraries',
    steps: (values): Step[] => [
      { kind: 'environment', key: values.keyVariable },
      { kind: 'sample', samples: samples(values) },
    ],
  };
}

/** A literal of Python, TypeScript and JSON. */
const text = (value: string) => JSON.stringify(value);

export const openaiSdk = library(
  { id: 'openai', name: 'OpenAI SDK', formats: ['responses', 'chat'], seen: '7' },
  ({ apiUrl, keyVariable, model }) => [
    {
      title: 'Python',
      install: 'pip install openai',
      code: `import os
from openai import OpenAI

client = OpenAI(
    base_url=${text(apiUrl)},
    api_key=os.environ[${text(keyVariable)}],
)
response = client.responses.create(
    model=${text(model.name)},
    input="Hello",
)
print(response.output_text)`,
    },
    {
      title: 'TypeScript',
      install: 'npm install openai',
      code: `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${text(apiUrl)},
  apiKey: process.env.${keyVariable},
});
const response = await client.responses.create({
  model: ${text(model.name)},
  input: "Hello",
});
console.log(response.output_text);`,
    },
  ],
);

export const anthropicSdk = library(
  { id: 'anthropic', name: 'Anthropic SDK', formats: ['messages'], seen: '1' },
  ({ baseUrl, keyVariable, model }) => [
    {
      title: 'Python',
      install: 'pip install anthropic',
      code: `import os
from anthropic import Anthropic

client = Anthropic(
    base_url=${text(baseUrl)},
    api_key=os.environ[${text(keyVariable)}],
)
message = client.messages.create(
    model=${text(model.name)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(message.content[0].text)`,
    },
    {
      title: 'TypeScript',
      install: 'npm install @anthropic-ai/sdk',
      code: `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: ${text(baseUrl)},
  apiKey: process.env.${keyVariable},
});
const message = await client.messages.create({
  model: ${text(model.name)},
  max_tokens: 1024,
  messages: [{ role: "user", content: "Hello" }],
});
console.log(message.content);`,
    },
  ],
);

export const geminiSdk = library(
  { id: 'gemini', name: 'Gemini SDK', formats: ['gemini'], seen: '2' },
  ({ baseUrl, keyVariable, model }) => [
    {
      title: 'Python',
      install: 'pip install google-genai',
      code: `import os
from google import genai

client = genai.Client(
    api_key=os.environ[${text(keyVariable)}],
    http_options={"base_url": ${text(baseUrl)}},
)
answer = client.models.generate_content(
    model=${text(model.name)},
    contents="Hello",
)
print(answer.text)`,
    },
    {
      title: 'TypeScript',
      install: 'npm install @google/genai',
      code: `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.${keyVariable},
  httpOptions: { baseUrl: ${text(baseUrl)} },
});
const answer = await client.models.generateContent({
  model: ${text(model.name)},
  contents: "Hello",
});
console.log(answer.text);`,
    },
  ],
);

/** Its Anthropic provider wants \`/v1\` in the base URL, where Anthropic's own SDK wants none. */
export const aiSdk = library(
  { id: 'ai-sdk', name: 'Vercel AI SDK', formats: ['chat', 'messages'], seen: '' },
  ({ apiUrl, providerId, keyVariable, model }) => [
    {
      title: 'OpenAI-compatible',
      install: 'npm install ai @ai-sdk/openai-compatible',
      code: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

const provider = createOpenAICompatible({
  name: ${text(providerId)},
  baseURL: ${text(apiUrl)},
  apiKey: process.env.${keyVariable},
  includeUsage: true,
});
const { text } = await generateText({
  model: provider(${text(model.name)}),
  prompt: "Hello",
});
console.log(text);`,
    },
    {
      title: 'Anthropic',
      install: 'npm install ai @ai-sdk/anthropic',
      code: `import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText } from "ai";

const provider = createAnthropic({
  baseURL: ${text(apiUrl)},
  apiKey: process.env.${keyVariable},
});
const { text } = await generateText({
  model: provider(${text(model.name)}),
  prompt: "Hello",
});
console.log(text);`,
    },
  ],
);

export const langchain = library(
  { id: 'langchain', name: 'LangChain', formats: ['chat'], seen: '' },
  ({ apiUrl, keyVariable, model }) => [
    {
      title: 'Python',
      install: 'pip install langchain-openai',
      code: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    base_url=${text(apiUrl)},
    api_key=os.environ[${text(keyVariable)}],
    model=${text(model.name)},
)
print(model.invoke("Hello").content)`,
    },
    {
      title: 'TypeScript',
      install: 'npm install @langchain/openai',
      code: `import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  configuration: { baseURL: ${text(apiUrl)} },
  apiKey: process.env.${keyVariable},
  model: ${text(model.name)},
});
console.log((await model.invoke("Hello")).content);`,
    },
  ],
);
