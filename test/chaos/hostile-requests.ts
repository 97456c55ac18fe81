import type { ChaosFormat } from './answers.ts';

/** Where in a request of a format something hostile stands: the body with `value` there. */
export type Place = (model: string, value: string) => string;

const chat = (rest: string) => `"messages":[{"role":"user","content":"hi"}],${rest}`;
const messages = (rest: string) => `"max_tokens":9,"messages":[{"role":"user","content":"hi"}],${rest}`;
const open = (model: string, rest: string) => `{"model":"${model}",${rest}}`;

/** Hostile in its own right: as many entries as the value has characters. */
const many = (value: string, perEntry: number, entry: (index: number) => string) =>
  Array.from({ length: Math.max(1, Math.floor(value.length / perEntry)) }, (_, index) => entry(index)).join(',');

export const places: Readonly<Record<ChaosFormat, Readonly<Record<string, Place>>>> = {
  chat: {
    'an unknown member': (model, value) => open(model, chat(`"x":${value}`)),
    'the model behind it': (model, value) => `{"x":${value},${chat(`"model":"${model}"`)}}`,
    'a message': (model, value) => open(model, `"messages":[{"role":"user","content":${value}}]`),
    messages: (model, value) => open(model, `"messages":${value}`),
    'a tool': (model, value) =>
      open(model, chat(`"tools":[{"type":"function","function":{"name":"f","parameters":${value}}}]`)),
    'an answer format': (model, value) =>
      open(model, chat(`"response_format":{"type":"json_schema","json_schema":{"name":"f","schema":${value}}}`)),
    'many messages': (model, value) =>
      open(
        model,
        `"messages":[${many(value, 60, (index) => `{"role":"${index % 2 ? 'assistant' : 'user'}","content":"m${index}"}`)}]`,
      ),
    'many calls': (model, value) =>
      open(
        model,
        `"messages":[{"role":"user","content":"hi"},${many(value, 200, (index) => `{"role":"assistant","content":null,"tool_calls":[{"id":"c${index}","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c${index}","content":"ok"}`)},{"role":"user","content":"hi"}]`,
      ),
    'many tools': (model, value) =>
      open(
        model,
        chat(
          `"tools":[${many(value, 80, (index) => `{"type":"function","function":{"name":"f.${index}","parameters":{"type":"object"}}}`)}]`,
        ),
      ),
    'a long model name': (_model, value) => open(value.replaceAll(/["\\]/g, ''), chat('"x":1')),
    stops: (model, value) => open(model, chat(`"stop":${value}`)),
  },
  responses: {
    input: (model, value) => open(model, `"input":${value}`),
    'an item': (model, value) => open(model, `"input":[{"role":"user","content":${value}}]`),
    'an unknown member': (model, value) => open(model, `"input":"hi","x":${value}`),
    metadata: (model, value) => open(model, `"input":"hi","metadata":${value}`),
    'a tool': (model, value) =>
      open(model, `"input":"hi","tools":[{"type":"function","name":"f","parameters":${value}}]`),
    'many items': (model, value) =>
      open(
        model,
        `"input":[${many(value, 160, (index) => `{"type":"function_call","call_id":"c${index}","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c${index}","output":"ok"}`)},{"role":"user","content":"hi"}]`,
      ),
  },
  messages: {
    'an unknown member': (model, value) => open(model, messages(`"x":${value}`)),
    'a message': (model, value) => open(model, `"max_tokens":9,"messages":[{"role":"user","content":${value}}]`),
    system: (model, value) => open(model, messages(`"system":${value}`)),
    'a tool': (model, value) => open(model, messages(`"tools":[{"name":"f","input_schema":${value}}]`)),
    'an input of a call': (model, value) =>
      open(
        model,
        `"max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":${value}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}]`,
      ),
    'many calls': (model, value) =>
      open(
        model,
        `"max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[${many(value, 160, (index) => `{"type":"tool_use","id":"c${index}","name":"f","input":{}}`)}]},{"role":"user","content":[${many(value, 160, (index) => `{"type":"tool_result","tool_use_id":"c${index}","content":"ok"}`)}]}]`,
      ),
  },
  gemini: {
    'an unknown member': (_model, value) => `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"x":${value}}`,
    contents: (_model, value) => `{"contents":${value}}`,
    'a part': (_model, value) => `{"contents":[{"role":"user","parts":[{"text":${value}}]}]}`,
    'a tool': (_model, value) =>
      `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":${value}}]}]}`,
    'a schema': (_model, value) =>
      `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"responseSchema":{"type":"object","properties":${value}}}}`,
    'model in the body': (model, value) =>
      `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"model":"${model}","x":${value}}`,
  },
};
