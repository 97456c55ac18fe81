import { describe, expect, it } from 'vitest';
import { conversationSamples, fillSample, imageSamples } from '../../../../plugins/dashboard/try/samples.ts';

const hostile = `it's "$(id)" %MODEL% \\ \n\`x\``;
const messages = [{ role: 'user', content: hostile } as const];
const [curl, python, typescript] = conversationSamples('https://ai.example/v1').map(({ template }) =>
  fillSample(template, 'dp/test', messages),
);

describe('the code of a request', () => {
  it('is a curl whose body is one word of the shell', () => {
    const [, quoted = ''] = /-d ('[^]*')$/.exec(curl ?? '') ?? [];
    const body = quoted.split(`'\\''`).join(`\u0000`).slice(1, -1);
    expect(body).not.toContain(`'`);
    expect(JSON.parse(body.replaceAll('\u0000', `'`))).toEqual({ model: 'dp/test', messages, stream: true });
  });

  it.each([
    ['Python', python, /messages=(\[[^]*?\n {4}\]),/],
    ['TypeScript', typescript, /messages: (\[[^]*?\n {2}\]),/],
  ])('has the messages as a literal of %s', (_name, code, pattern) => {
    expect(JSON.parse(pattern.exec(code ?? '')?.[1] ?? '')).toEqual(messages);
  });

  it('asks a model that makes images for one', () => {
    const [image] = imageSamples('https://ai.example/v1');
    const code = fillSample(image?.template ?? '', 'dp/painter', messages, false);
    expect(code).toContain('/v1/images/generations');
    expect(code).toContain('"prompt": "it\'\\\'\'s');
  });

  it('does not contain the key', () => {
    expect([curl, python, typescript].every((code) => code?.includes('YOUR_KEY'))).toBe(true);
  });
});
