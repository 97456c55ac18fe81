import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { fillLiterals, findLiterals, maskLiterals, type SecretSchemas } from '#core/config/history/literals.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';

const schemas: SecretSchemas = {
  sections: new Map([['upstreams', upstreams]]),
  stages: new Map([['sign', { options: { properties: { key: { type: 'string', writeOnly: true } } } }]]),
};
const text = `# what serves
upstreams:
  one: { vendor: openai, api_keys: [sk-plain, "\${KEY}"] }   # two keys
  two:
    format: chat
    base_url: http://127.0.0.1:1/v1
    headers: { x-key: 'it''s' }
    api_keys:
      - |
        sk-block
pipeline: [auth, { sign: { key: sk-stage, name: me } }]
`;
const read = (source: string) => parseDocument(source, 'gateway.yaml', { KEY: 'sk-variable' });
const literalsOf = (source: string) => findLiterals(read(source), schemas);

describe('secrets that a file has itself', () => {
  it('are found in sections and in options of stages, those of variables are not', () => {
    expect(literalsOf(text).map(({ value }) => value)).toEqual(['sk-plain', "it's", 'sk-block\n', 'sk-stage']);
  });

  it('are masked, and every other byte stays', () => {
    const masked = maskLiterals(text, literalsOf(text), 'secret');
    expect(masked).not.toMatch(/sk-plain|it''s|sk-block|sk-stage/);
    expect(masked.replaceAll(/"\*\*\*[\da-f]{16}"/g, '_')).toBe(`# what serves
upstreams:
  one: { vendor: openai, api_keys: [_, "\${KEY}"] }   # two keys
  two:
    format: chat
    base_url: http://127.0.0.1:1/v1
    headers: { x-key: _ }
    api_keys:
      - _
pipeline: [auth, { sign: { key: _, name: me } }]
`);
  });

  it('come from the file of today again, wherever they are in it', () => {
    const masked = maskLiterals(text, literalsOf(text), 'secret');
    const today = text.replace('sk-plain, "${KEY}"', '"${KEY}", sk-plain');
    const { text: filled, missingLines: missing } = fillLiterals(masked, literalsOf(today), 'secret');
    expect(missing).toEqual([]);
    expect(read(filled).values()).toEqual(read(text).values());
  });

  it('are missing, with their lines, where the file of today has others', () => {
    const masked = maskLiterals(text, literalsOf(text), 'secret');
    const today = text.replace('sk-plain', 'sk-new').replace('sk-stage', 'sk-newer');
    expect(fillLiterals(masked, literalsOf(today), 'secret').missingLines).toEqual([3, 10]);
  });

  it('have other digests with another secret', () => {
    const [one, other] = ['a', 'b'].map((secret) => maskLiterals(text, literalsOf(text), secret));
    expect(one).not.toBe(other);
  });
});
