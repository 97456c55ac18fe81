import { describe, expect, it } from 'vitest';
import { modelKinds } from '#core/config/catalog/kinds.ts';
import { createExampleCall } from '../../../../plugins/dashboard/code/example-call.ts';
import { codeLanguages, writeCode } from '../../../../plugins/dashboard/code/write-code.mjs';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';

const apiUrl = 'https://ai.example/v1';
/** Whatever ends a literal of some language. */
const hostile = `'\\'' "x" \`y\` \${z} %s\n"role": """ JSON;\r\u2028`;
const body = {
  model: 'dp/test',
  messages: [{ role: 'user', content: hostile }],
  stream: true,
  temperature: 0.5,
  tools: [{ type: 'function', function: { name: 'f', strict: false, parameters: null } }],
};
const code = (language: (typeof codeLanguages)[number]['id'], more: object = {}) =>
  writeCode(language, { apiUrl, kind: 'chat', body: { ...body, ...more } });

describe('the code of a request', () => {
  it('in the shell has the body in one argument', () => {
    const [, argument = ''] = /-d '([^]*)'$/.exec(code('curl')) ?? [];
    expect(argument.replaceAll(`'\\''`, '').includes("'")).toBe(false);
    expect(JSON.parse(argument.replaceAll(`'\\''`, "'"))).toEqual(body);
  });

  it('in Python has literals of Python', () => {
    const text = code('python');
    expect(text).toContain('"strict": False');
    expect(text).toContain('"parameters": None');
    expect(text).toContain('stream=True,');
    expect(text).toContain(`"content": ${JSON.stringify(hostile)}`);
    expect(text).not.toMatch(/\b(true|false|null)\b/);
  });

  it('in TypeScript has the body as an argument', () => {
    const [, argument = ''] = /completions\.create\(([^]*?)\);\nfor await/.exec(code('typescript')) ?? [];
    // oxlint-disable-next-line typescript/no-implied-eval -- the code under test
    expect(new Function(`return ${argument}`)()).toEqual(body);
  });

  it('in Go has the body in raw strings', () => {
    const [, literal = ''] = /body := ([^]*?)\n\trequest, err/.exec(code('go')) ?? [];
    const parts = literal.split(' + ').map((part) => part.slice(1, -1));
    expect(JSON.parse(parts.join(''))).toEqual(body);
  });

  it('in PHP has the body in a nowdoc that nothing in it ends', () => {
    const [, text = ''] = /<<<'JSON'\n([^]*?)\nJSON;/.exec(code('php')) ?? [];
    expect(JSON.parse(text)).toEqual(body);
  });

  it('prints the whole message of a request that is not streamed', () => {
    expect(code('python', { stream: false })).toContain('print(answer.choices[0].message)');
    expect(code('typescript', { stream: false })).not.toContain('for await');
  });

  it.each(modelKinds)(
    'of a model of the kind %s names its endpoint or method, and the model, in every language',
    (kind) => {
      const call = createExampleCall(modelOf('test', ['chat'], { kind }), apiUrl, 'Hello');
      const marks = {
        chat: /chat[./]completions/,
        embedding: /embeddings/,
        image: /images[./]generat/,
        speech: /audio[./]speech/,
        transcription: /audio[./]transcriptions/,
        rerank: /\/rerank/,
        moderation: /moderations/,
      };
      for (const { id } of codeLanguages) {
        const text = writeCode(id, call);
        expect(text).toMatch(marks[kind]);
        expect(text).toContain('dp/test');
        expect(text).toContain('YOUR_KEY');
        expect(text).toContain(apiUrl);
      }
    },
  );

  it('of a model with completions alone asks for one', () => {
    const [route] = modelOf('test', ['chat']).routes;
    const upstream = { ...route?.upstream, formats: ['completions'] };
    const model = modelOf('test', ['chat'], { routes: [{ ...route, upstream } as never] });
    const call = createExampleCall(model, apiUrl, 'Hello');
    expect(writeCode('curl', call)).toContain('/v1/completions');
  });
});
