import { type SampledSdk, sdkSamples } from '#core/web/pages/code-samples.ts';
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

function officialSdk(sdk: SampledSdk, tool: Library): SetupTool {
  return library(tool, ({ baseUrl, keyVariable, model }) =>
    sdkSamples(sdk, { baseUrl, keyVariable, model: model.name }),
  );
}

export const openaiSdk = officialSdk('openai', {
  id: 'openai',
  name: 'OpenAI SDK',
  formats: ['responses', 'chat'],
  seen: '7',
});

export const anthropicSdk = officialSdk('anthropic', {
  id: 'anthropic',
  name: 'Anthropic SDK',
  formats: ['messages'],
  seen: '1',
});

export const geminiSdk = officialSdk('gemini', { id: 'gemini', name: 'Gemini SDK', formats: ['gemini'], seen: '2' });

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
