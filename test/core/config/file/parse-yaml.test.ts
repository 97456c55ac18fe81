import { describe, expect, it } from 'vitest';
import { LineCounter, parseAllDocuments } from 'yaml';
import { parseYaml } from '#core/config/file/document.ts';
import { runToEnd } from '#core/platform/timing/turn.ts';

const options = { uniqueKeys: true, prettyErrors: false } as const;

describe('YAML that is parsed in steps', () => {
  it.each([
    'a: 1\nb: { c: [1, 2], d: "x" }\n',
    'a: 1\na: 2\n',
    'a: { b: 1, b: 2, c: 3, b: 4 }\n',
    'a: 1\nb:\n  a: 1\n  "a": 2\n',
    '1: x\n"1": y\n',
    'a: 1\n---\nb: 2\n',
    'a: [1, 2\nb: 3\n',
    '\ta: 1\n',
    'a: &x 1\nb: *x\n',
    '# nothing\n',
    '',
    '\ufeffa: 1\r\nb: 2\r\n',
  ])('is what the library reads, errors and lines included: %j', (text) => {
    const [lines, expectedLines] = [new LineCounter(), new LineCounter()];
    const documents = runToEnd(parseYaml(text, lines));
    const expected = parseAllDocuments(text, { ...options, lineCounter: expectedLines });
    const all = Array.isArray(expected) ? expected : [];
    expect(documents.map((one) => one.toJS({}) as unknown)).toEqual(all.map((one) => one.toJS({}) as unknown));
    const errorsOf = ({ errors }: (typeof documents)[number]) => errors.map(({ code, pos }) => [code, pos[0]]);
    expect(documents.map(errorsOf)).toEqual(all.map(errorsOf));
    expect(lines.lineStarts).toEqual(expectedLines.lineStarts);
  });

  it('keeps the event loop for a small part of a file of thousands of models', () => {
    const models = Array.from({ length: 5_000 }, (_, index) => `  model-${index}: { routes: [one/m-${index}] }\n`);
    const steps = parseYaml(`models:\n${models.join('')}`, new LineCounter());
    expect([...steps].length).toBeGreaterThan(20);
  });
});
